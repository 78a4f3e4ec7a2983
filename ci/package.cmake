# What is installed where, and the .deb out of it (`cpack -G DEB` in the build folder, target `programs` built before).
install(TARGETS fabricgate fabricgate-rank RUNTIME DESTINATION bin)
install(TARGETS fabricgate-agent RUNTIME DESTINATION libexec/fabricgate)
install(FILES launch/completion/fabricgate.bash DESTINATION share/bash-completion/completions RENAME fabricgate)
install(FILES launch/completion/fabricgate.bash DESTINATION share/bash-completion/completions RENAME fabricgate-rank)
install(DIRECTORY suites/limits suites/suites DESTINATION share/fabricgate FILES_MATCHING PATTERN "*.yaml")
install(FILES inventory/example.yaml DESTINATION share/fabricgate)
# Links go to files of the source tree, which are not installed: their text stays.
foreach(readme "README.md=README.md" "results/README.md=results.md")
  string(REPLACE "=" ";" names "${readme}")
  list(GET names 0 source)
  list(GET names 1 installed)
  file(READ ${PROJECT_SOURCE_DIR}/${source} text)
  string(REGEX REPLACE "\\[([^]\n]*)\\]\\([^)\n]*\\)" "\\1" text "${text}")
  file(WRITE ${PROJECT_BINARY_DIR}/doc/${installed} "${text}")
  install(FILES ${PROJECT_BINARY_DIR}/doc/${installed} DESTINATION share/doc/fabricgate)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${source})
endforeach()

# Up to glibc 2.36 and GCC 12 the programs need no newer symbols than glibc 2.34 and GCC 11 have (ci/check_deployed); built
# on anything newer they may, and the package then asks for what it was built with.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE glibc OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "glibc " "" glibc "${glibc}")
if(glibc VERSION_LESS 2.37)
  set(glibc 2.34)
endif()
set(libstdcxx 11)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  string(REGEX MATCH "^[0-9]+" libstdcxx ${CMAKE_CXX_COMPILER_VERSION})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fabricgate)
set(CPACK_PACKAGE_VENDOR fabricgate)
set(CPACK_PACKAGE_CONTACT "fabricgate maintainers <root@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "From bare GPU machines to a training cluster that is proven ready")
set(CPACK_PACKAGE_DESCRIPTION "Stages nodes over SSH, measures every rail between every pair of nodes and the collectives over all of
them under mpirun, and gives one verdict.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
# By hand, since what shlibdeps finds is this distribution's name of a library only; other distributions have others.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
string(CONCAT CPACK_DEBIAN_PACKAGE_DEPENDS
  "libc6 (>= ${glibc}), libstdc++6 (>= ${libstdcxx}), libgcc-s1, libopenmpi3 | libopenmpi3t64 | libopenmpi40, libucx0, libibverbs1, "
  "libssh-4 | libssh-4t64, openmpi-bin, openssh-client")
include(CPack)

add_test(NAME package.deb_is_built_and_runs COMMAND ${PROJECT_SOURCE_DIR}/ci/package_test ${PROJECT_BINARY_DIR})
add_test(NAME deploy.rank_needs_only_what_any_node_has
  COMMAND ${PROJECT_SOURCE_DIR}/ci/check_deployed $<TARGET_FILE:fabricgate-rank> $<TARGET_FILE:fabricgate-agent>)
set_tests_properties(package.deb_is_built_and_runs deploy.rank_needs_only_what_any_node_has
  PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77)
