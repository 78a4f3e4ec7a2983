#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::readers {

std::string read_attribute(Host& host, const std::string& path) {
  auto text = host.read(path);
  return text ? trim(*text) : "";
}

std::int64_t read_number(Host& host, const std::string& path, std::int64_t otherwise) {
  return to_integer(read_attribute(host, path)).value_or(otherwise);
}

std::map<std::string, std::int64_t> read_counters(Host& host, const std::string& folder) {
  std::map<std::string, std::int64_t> out;
  auto names = host.list(folder);
  if (!names) return out;
  for (const std::string& name : *names)
    if (const auto value = to_integer(read_attribute(host, folder + "/" + name))) out[name] = *value;
  return out;
}

std::string link_name(Host& host, const std::string& path) {
  auto target = host.read_link(path);
  return target ? target->substr(target->rfind('/') + 1) : "";
}

std::vector<std::string> pci_path(Host& host, const std::string& link) {
  std::vector<std::string> out;
  auto target = host.read_link(link);
  if (!target) return out;
  std::string path = *target + "/";
  for (std::size_t begin = 0, end = path.find('/'); end != std::string::npos;
       begin = end + 1, end = path.find('/', begin))
    if (const std::string part = path.substr(begin, end - begin); is_pci_address(part)) out.push_back(part);
  return out;
}

std::string sysctl_path(const std::string& key) {
  std::string path = key;
  for (char& c : path) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return "/proc/sys/" + path;
}

}  // namespace fabricgate::readers
