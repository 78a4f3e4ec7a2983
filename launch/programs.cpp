#include "launch/programs.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "launch/build_id.hpp"

namespace fabricgate::launch {

namespace {

std::vector<std::string> local_folders() {
  const std::string here = program_folder();
  return {here, here + "/../libexec/fabricgate", here + "/../bootstrap/agent"};
}

constexpr const char* own_remedy = "install fabricgate again";

Result<std::string> find(const std::string& name, const std::vector<std::string>& folders, const std::string& remedy) {
  std::string looked;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return Error{ErrorKind::unavailable, name + " is not in " + (looked.empty() ? "PATH, which is empty" : looked) + "; " + remedy, 0};
}

}  // namespace

Result<std::string> local_program(const std::string& name) { return find(name, local_folders(), own_remedy); }

Result<std::string> node_program(const std::string& name, const std::string& install_dir) {
  std::vector<std::string> folders = local_folders();
  folders.push_back(install_dir + "/bin");
  return find(name, folders, own_remedy);
}

Result<std::string> program_in_path(const std::string& name, const std::string& remedy) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> folders;
  std::istringstream words(path ? path : "/bin:/usr/bin");  // as execvp has it
  for (std::string folder; std::getline(words, folder, ':');) folders.push_back(folder.empty() ? "." : folder);
  return find(name, folders, remedy);
}

}  // namespace fabricgate::launch
