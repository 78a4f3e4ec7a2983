#include "launch/programs.hpp"

#include <unistd.h>

#include "launch/build_id.hpp"

namespace fabricgate::launch {

Result<std::string> local_program(const std::string& name) {
  const std::string here = program_folder();
  std::string looked;
  for (const std::string& folder : {here, here + "/../libexec/fabricgate", here + "/../bootstrap/agent"}) {
    const std::string path = folder + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return Error{ErrorKind::unavailable, name + " is not in " + looked + "; install fabricgate again", 0};
}

}  // namespace fabricgate::launch
