#include "inventory/logs/mlxconfig.hpp"

#include <cstdlib>
#include <sstream>
#include <vector>

namespace fabricgate {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  std::istringstream in(line);
  Words out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// "Configurations:  Default  Current  Next Boot" → Default, Current, Next
Words columns_of(const Words& header) {
  Words out;
  for (std::size_t i = 1; i < header.size(); ++i)
    if (header[i] != "Boot") out.push_back(header[i]);
  return out;
}

void read_row(const Words& words, const Words& columns, std::map<std::string, FirmwareSetting>& out) {
  // before the name: '*' where a value differs, "RO" where it cannot be set
  if (words.size() < columns.size() + 1) return;
  const std::size_t name = words.size() - columns.size() - 1;
  FirmwareSetting& setting = out[words[name]];
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == "Default") setting.standard = words[name + 1 + i];
    if (columns[i] == "Current") setting.current = words[name + 1 + i];
    if (columns[i] == "Next") setting.next = words[name + 1 + i];
  }
}

}  // namespace

Result<std::map<std::string, FirmwareSetting>> parse_mlxconfig(std::string_view text) {
  std::map<std::string, FirmwareSetting> out;
  Words columns;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const Words words = words_of(line);
    if (const auto at = line.find("-E-"); at != std::string::npos)
      return Error{
          ErrorKind::native,
          line.substr(line.find_first_not_of(" ", at + 3) == std::string::npos ? at
                                                                               : line.find_first_not_of(" ", at + 3)),
          0};
    if (words.empty() || line.find("shows parameters") != std::string::npos) {
      columns.clear();
    } else if (words[0] == "Configurations:") {
      columns = columns_of(words);
    } else if (!columns.empty()) {
      read_row(words, columns, out);
    }
  }
  if (out.empty()) return Error{ErrorKind::parse, "no table of configurations", 0};
  return out;
}

long setting_number(const std::string& value) {
  const std::size_t open = value.find('(');
  const std::string digits =
      open == std::string::npos ? value : value.substr(open + 1, value.find(')', open) - open - 1);
  char* end = nullptr;
  const long number = std::strtol(digits.c_str(), &end, 0);
  return digits.empty() || *end != '\0' || number < 0 ? -1 : number;
}

}  // namespace fabricgate
