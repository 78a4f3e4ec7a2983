# One function describes every module of the tree:
#
#   fabricgate_module(NAME SOURCES a.cpp … DEPENDS module|library … TESTS a_test.cpp … FUZZ b_fuzz.cpp …)
#
# makes the static library fabricgate_NAME with the project's warnings, one test program NAME_test out of TESTS (label `unit`,
# one CTest entry per test; per program under a sanitizer), a self-sufficiency check of the headers beside the sources, and libFuzzer programs when
# FABRICGATE_FUZZ is on. Include paths start at the root of the tree.
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
include(GoogleTest)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  if(FABRICGATE_SANITIZE)  # what ccache asks for before it keeps objects made with a precompiled header
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  endif()
endif()

add_library(fabricgate_options INTERFACE)
target_include_directories(fabricgate_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(fabricgate_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers)  # designated initialisers leave out what does not apply
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(fabricgate_options INTERFACE -Wno-restrict)  # GCC 12 sees overlaps in std::string's + at -O2 and up (PR 105329)
endif()
if(FABRICGATE_WERROR)
  target_compile_options(fabricgate_options INTERFACE -Werror)
endif()
if(FABRICGATE_SANITIZE)
  target_compile_options(fabricgate_options INTERFACE -fsanitize=${FABRICGATE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    -Wno-shadow)  # of names that only another source of the module declares
  target_link_options(fabricgate_options INTERFACE -fsanitize=${FABRICGATE_SANITIZE})
endif()
if(FABRICGATE_FUZZ)
  target_compile_options(fabricgate_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
# header-only, so that what is deployed to nodes needs no library of ours or Debian's beside libc, libstdc++, MPI, UCX, verbs
target_link_libraries(fabricgate_options INTERFACE fmt::fmt-header-only nlohmann_json::nlohmann_json Threads::Threads)

# The sanitizers' trees parse the libraries' headers once, compile up to 16 sources of a module as one, and are not optimised
# (CMakePresets.json): that makes their build some four times shorter. The dev tree does none of that, so that a file which forgot
# an #include is still found. Sources that use a name of another one of their module for something else are given to
# fabricgate_apart.
function(fabricgate_precompile kind)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled_${kind}.cpp "")
  add_library(fabricgate_precompiled_${kind} OBJECT ${PROJECT_BINARY_DIR}/precompiled_${kind}.cpp)
  target_link_libraries(fabricgate_precompiled_${kind} PRIVATE fabricgate_options $<$<STREQUAL:${kind},test>:GTest::gmock>)
  target_compile_options(fabricgate_precompiled_${kind} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  target_precompile_headers(fabricgate_precompiled_${kind} PRIVATE <algorithm> <chrono> <filesystem> <functional> <map> <memory>
    <optional> <set> <sstream> <string> <thread> <vector> <fmt/format.h> <nlohmann/json.hpp> ${ARGN})
endfunction()
function(fabricgate_sanitized target kind)
  if(FABRICGATE_SANITIZE)
    target_precompile_headers(${target} REUSE_FROM fabricgate_precompiled_${kind})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()
function(fabricgate_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
if(FABRICGATE_SANITIZE)
  fabricgate_precompile(source)
  fabricgate_precompile(test <gmock/gmock.h> <gtest/gtest.h>)
endif()

# unit_tests builds every unit-test program (what asan and tsan need); fuzzers every libFuzzer program; programs what is installed.
foreach(target unit_tests fuzzers programs)
  if(NOT TARGET ${target})
    add_custom_target(${target})
  endif()
endforeach()

function(fabricgate_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;TESTS;FUZZ" ${ARGN})
  add_library(fabricgate_${name} STATIC ${arg_SOURCES})
  target_link_libraries(fabricgate_${name} PUBLIC fabricgate_options ${arg_DEPENDS})
  fabricgate_sanitized(fabricgate_${name} source)
  fabricgate_check_headers(${name})
  if(arg_TESTS)
    add_executable(${name}_test ${arg_TESTS})
    target_link_libraries(${name}_test PRIVATE fabricgate_${name} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE TESTDATA="${CMAKE_CURRENT_SOURCE_DIR}/testdata")
    fabricgate_sanitized(${name}_test test)
    add_dependencies(unit_tests ${name}_test)
    if(FABRICGATE_SANITIZE)
      # a process per case would spend its time starting
      add_test(NAME ${name}_test COMMAND ${name}_test)
      set_tests_properties(${name}_test PROPERTIES LABELS unit TIMEOUT 900)
    else()
      gtest_discover_tests(${name}_test PROPERTIES LABELS unit TIMEOUT 120 PROCESSORS 2 DISCOVERY_TIMEOUT 60)
    endif()
  endif()
  if(FABRICGATE_FUZZ)
    foreach(source ${arg_FUZZ})
      get_filename_component(program ${source} NAME_WE)
      add_executable(${program} ${source})
      target_link_libraries(${program} PRIVATE fabricgate_${name})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers ${program})
    endforeach()
  endif()
endfunction()

# A generated source that includes it alone per header that no x.cpp includes first (ci/check_layers holds each x.cpp to that);
# built by the target `check_headers`. A header belongs to the first module of the nearest folder with a CMakeLists.txt.
if(NOT TARGET check_headers)
  add_custom_target(check_headers)
endif()
function(fabricgate_check_headers name)
  file(GLOB_RECURSE headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  get_property(taken GLOBAL PROPERTY fabricgate_checked_headers)
  set(sources)
  foreach(header ${headers})
    string(REGEX REPLACE "hpp$" "cpp" own ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    string(REGEX MATCH "^[^/]+/" folder ${header})
    if(EXISTS ${own} OR own IN_LIST taken OR (folder AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}CMakeLists.txt))
      continue()
    endif()
    set_property(GLOBAL APPEND PROPERTY fabricgate_checked_headers ${own})
    string(MAKE_C_IDENTIFIER ${header} id)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}_${id}.cpp)
    if(NOT EXISTS ${source})
      file(WRITE ${source} "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${header}\"\n")
    endif()
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(fabricgate_${name}_headers OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(fabricgate_${name}_headers PRIVATE fabricgate_${name})
    target_compile_definitions(fabricgate_${name}_headers PRIVATE TESTDATA="${CMAKE_CURRENT_SOURCE_DIR}/testdata")  # of headers for tests
    add_dependencies(check_headers fabricgate_${name}_headers)
  endif()
endfunction()
