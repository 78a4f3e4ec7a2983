cmake_minimum_required(VERSION 3.22)
# cmake -DLIMITS=limits/default.yaml -DSUITE=suites/default.yaml -DOUT=embedded.cpp -P embed_text.cmake
file(READ ${LIMITS} limits)
file(READ ${SUITE} suite)
file(WRITE ${OUT} "#include \"suites/embedded.hpp\"
namespace fabricgate::suites {
const char* embedded_limits() {
  return R\"YAML(${limits})YAML\";
}
const char* embedded_suite() {
  return R\"YAML(${suite})YAML\";
}
}  // namespace fabricgate::suites
")
