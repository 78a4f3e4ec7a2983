#pragma once
/// Which program measured: version and a digest of the executable's content, so that records of another binary are known.
#include <string>

#include "results/result.hpp"

namespace fabricgate::launch {

/// "0.1.0".
const char* version();
/// Build id of a program file: "0.1.0+<16 hexadecimal digits of its SHA-256>".
Result<std::string> build_id_of(const std::string& path);
/// Of the running program.
const std::string& own_build_id();
/// Folder of the running program, without a slash at its end.
std::string program_folder();

}  // namespace fabricgate::launch
