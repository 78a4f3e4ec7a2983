#include "launch/build_id.hpp"

#include <unistd.h>

#include <array>

#include "results/file.hpp"

namespace fabricgate::launch {

const char* version() { return FABRICGATE_VERSION; }

Result<std::string> build_id_of(const std::string& path) {
  auto content = read_file(path);
  if (!content) return content.error().with("build id");
  return std::string(version()) + "+" + sha256_hex(*content).substr(0, 16);
}

const std::string& own_build_id() {
  static const std::string id = [] {
    auto made = build_id_of("/proc/self/exe");
    return made ? *made : std::string(version()) + "+unknown";
  }();
  return id;
}

std::string program_folder() {
  std::array<char, 4096> buffer;
  const ssize_t length = readlink("/proc/self/exe", buffer.data(), buffer.size());
  const std::string path(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return path.substr(0, path.rfind('/'));
}

}  // namespace fabricgate::launch
