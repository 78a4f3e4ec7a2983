#pragma once
/// The default limits and suite as text, put into the binary at build time (embed_text.cmake).

namespace fabricgate::suites {

const char* embedded_limits();
const char* embedded_suite();

}  // namespace fabricgate::suites
