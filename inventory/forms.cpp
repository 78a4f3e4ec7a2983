#include "inventory/forms.hpp"

#include <algorithm>

namespace fabricgate::forms {
namespace {

bool alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// 1 … longest characters, all alphanumeric or of `more`; the first alphanumeric or of `first`.
bool made_of(std::string_view text, std::string_view more, std::size_t longest = 63, std::string_view first = "") {
  if (text.empty() || text.size() > longest) return false;
  if (!alnum(text[0]) && first.find(text[0]) == std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return alnum(c) || more.find(c) != std::string_view::npos; });
}

bool printable(std::string_view text, bool spaces) {
  return !text.empty() && text.size() <= 4096 && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return c > ' ' ? c != 0x7f : (c == ' ' && spaces);
  });
}

bool lower_label(std::string_view text) {
  const bool lower = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return made_of(text, "-") && lower && text.back() != '-';
}

/// Labels between dots, each beginning and ending alphanumeric; the last is not a number, so 10.0.0.256 is no name.
bool dns_name(std::string_view text) {
  const std::string_view last = text.substr(text.rfind('.') == std::string_view::npos ? 0 : text.rfind('.') + 1);
  if (text.size() > 253 || std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (!made_of(part, "-_") || part.back() == '-') return false;
    begin = end + 1;
  }
  return true;
}

bool host(std::string_view text) {
  return dns_name(text) && text != "localhost" && text.substr(0, 10) != "localhost.";
}

bool port_number(std::string_view text, int low) {
  const bool digits = !text.empty() && text.size() <= 5 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return false;
  const int value = std::stoi(std::string(text));
  return value >= low && value <= 65535;
}

bool port_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view low = text.substr(0, dash), high = text.substr(dash + 1);
  return port_number(low, 1024) && port_number(high, 1024) &&
         std::stoi(std::string(low)) < std::stoi(std::string(high));
}

bool user_name(std::string_view text) {
  return made_of(text, "_.-", 32, "_");
}

bool jump_host(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos && !user_name(text.substr(0, at))) return false;
  const std::string_view rest = at == std::string_view::npos ? text : text.substr(at + 1);
  const std::size_t colon = rest.find(':');
  if (colon != std::string_view::npos && !port_number(rest.substr(colon + 1), 1)) return false;
  const std::string_view name = rest.substr(0, colon);
  return dns_name(name) || parse_ipv4(name);
}

bool dir(std::string_view text) {
  if (text.size() < 2 || text.size() > 255 || text[0] != '/' || text.back() == '/') return false;
  const std::string whole = std::string(text) + '/';
  return made_of(text, "/._+-", 255, "/") && whole.find("/../") == std::string::npos &&
         whole.find("/./") == std::string::npos && whole.find("//") == std::string::npos;
}

bool pci_address(std::string_view text) {
  if (text.size() != 12 || text[4] != ':' || text[7] != ':' || text[10] != '.' || text[11] < '0' || text[11] > '7')
    return false;
  for (const int i : {0, 1, 2, 3, 5, 6, 8, 9})
    if (!hex(text[static_cast<std::size_t>(i)])) return false;
  return text[8] == '0' || text[8] == '1';  // five bits of device number
}

bool interface(std::string_view text) {
  return made_of(text, "_.-", 15) && text != "lo" && text != "all" && text != "default";
}

bool checksum(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), hex);
}

/// What a package manager's list of sources takes as one word.
bool web_address(std::string_view text) {
  for (const std::string_view scheme : {"https://", "http://", "file:///"})
    if (text.substr(0, scheme.size()) == scheme) return made_of(text.substr(scheme.size()), "/._+-:~", 400);
  return false;
}

bool option(std::string_view text) {
  return text.substr(0, 2) == "--" && made_of(text.substr(2), "-=./_+,", 200);
}

bool sysctl_name(std::string_view text) {
  return made_of(text, "_./-", 200) && text.find_first_of("./") != std::string_view::npos &&
         text.find("..") == std::string_view::npos;
}

}  // namespace

const Form cluster_name{"letters, digits and '-', at most 63", [](std::string_view t) { return made_of(t, "-"); }};
const Form domain{"a DNS name", dns_name};
const Form user{"a login name", user_name};
const Form jump{"[user@]host[:port]", jump_host};
const Form local_path{"a path",
                      [](std::string_view t) { return printable(t, true) && t.find('"') == std::string_view::npos; }};
const Form remote_dir{"an absolute path of letters, digits and ._+- without '.', '..' and trailing '/'", dir};
const Form ports{"two ports from 1024 to 65535, the first lower, as in 20000-20999", port_range};
const Form host_name{"an IPv4 address or a DNS name", [](std::string_view t) { return parse_ipv4(t) || dns_name(t); }};
const Form hosts{"a host range as in gpu[001-064,070]", [](std::string_view t) { return printable(t, false); }};
const Form rack{"a name of letters, digits and ._:-", [](std::string_view t) { return made_of(t, "._:-"); }};
const Form suite{"a name of letters, digits, '_' and '-'", [](std::string_view t) { return made_of(t, "_-"); }};
const Form label{"a name of letters, digits and ._-", [](std::string_view t) { return made_of(t, "._-"); }};
const Form netdev{"an interface name of at most 15 letters, digits and ._- (not lo)", interface};
const Form device{"a device name like mlx5_0", [](std::string_view t) { return made_of(t, "_.-"); }};
const Form pci{"a PCI address like 0000:18:00.0 in lower case", pci_address};
const Form glob{"a glob like 5.15.0-*", [](std::string_view t) { return printable(t, false); }};
const Form package{"a package name", [](std::string_view t) { return made_of(t, "+.:_=~-", 200); }};
const Form sysctl_key{"a sysctl key like net.ipv4.tcp_rmem", sysctl_name};
const Form sysctl_value{"a value on one line", [](std::string_view t) { return printable(t, true); }};
const Form module{"a kernel module name", [](std::string_view t) { return made_of(t, "_-"); }};
const Form version{"a version like 3.0.0", [](std::string_view t) { return made_of(t, ".+~_-"); }};
const Form sha256{"64 hexadecimal digits in lower case", checksum};
const Form url{"a URL like https://host/path", web_address};
const Form flag{"an option like --add-kernel-support", option};
const Form context{"a kubectl context name", [](std::string_view t) { return printable(t, false) && t[0] != '-'; }};
const Form name_space{"a Kubernetes namespace (lower-case letters, digits, '-')", lower_label};
const Form release{"a release like 25.10.0",
                   [](std::string_view t) { return made_of(t, ".-") && t.find('.') != std::string_view::npos; }};
const Form hook{"a command line with {node}",
                [](std::string_view t) { return printable(t, true) && t.find("{node}") != std::string_view::npos; }};

const Form node_name{"a host name of letters, digits, '.' and '-' (no address, not localhost)", host};

}  // namespace fabricgate::forms
