#include "launch/programs.hpp"

#include <unistd.h>

#include <vector>

#include "launch/build_id.hpp"

namespace fabricgate::launch {

namespace {

std::vector<std::string> local_folders() {
  const std::string here = program_folder();
  return {here, here + "/../libexec/fabricgate", here + "/../bootstrap/agent"};
}

Result<std::string> find(const std::string& name, const std::vector<std::string>& folders) {
  std::string looked;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return Error{ErrorKind::unavailable, name + " is not in " + looked + "; install fabricgate again", 0};
}

}  // namespace

Result<std::string> local_program(const std::string& name) { return find(name, local_folders()); }

Result<std::string> node_program(const std::string& name, const std::string& install_dir) {
  std::vector<std::string> folders = local_folders();
  folders.push_back(install_dir + "/bin");
  return find(name, folders);
}

}  // namespace fabricgate::launch
