#include "inventory/logs/mlnx_qos.hpp"

#include <cstdlib>
#include <sstream>

namespace fabricgate {
namespace {

std::string value_after(const std::string& line, const std::string& key) {
  const auto at = line.find(key);
  if (at == std::string::npos) return "";
  const auto begin = line.find_first_not_of(" \t", at + key.size());
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<int> numbers_of(std::string text) {
  for (char& c : text)
    if (c == ',') c = ' ';
  std::istringstream in(text);
  std::vector<int> out;
  for (int number = 0; in >> number;) out.push_back(number);
  return out;
}

/// "prio:3 dscp:31,30,29," which may go on in a further line of the same priority
void read_mapping(const std::string& line, std::map<int, int>& out) {
  const int priority = std::atoi(value_after(line, "prio:").c_str());
  for (const int dscp : numbers_of(value_after(line, "dscp:"))) out[dscp] = priority;
}

std::string first_line(std::string_view text) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) return line;
  return "it printed nothing";
}

}  // namespace

Result<QosSettings> parse_mlnx_qos(std::string_view text) {
  QosSettings out;
  bool in_pfc = false, told = false;
  std::vector<int> columns;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (const std::string mode = value_after(line, "DCBX mode:"); !mode.empty()) out.dcbx = mode;
    if (const std::string trust = value_after(line, "Priority trust state:"); !trust.empty()) out.trust = trust;
    if (line.find("prio:") != std::string::npos && line.find("dscp:") != std::string::npos)
      read_mapping(line, out.priorities);
    if (line.find("PFC configuration:") != std::string::npos) {
      in_pfc = true;
    } else if (in_pfc && line.find("priority") != std::string::npos) {
      columns = numbers_of(value_after(line, "priority"));
    } else if (in_pfc && line.find("enabled") != std::string::npos) {
      const auto enabled = numbers_of(value_after(line, "enabled"));
      for (std::size_t i = 0; i < enabled.size() && i < columns.size(); ++i)
        if (enabled[i] != 0) out.pfc.push_back(columns[i]);
      told = enabled.size() == columns.size() && !columns.empty();
      in_pfc = false;
    }
  }
  if (told) return out;
  const std::string said = first_line(text);
  for (const char* word : {"rror", "not supported", "exist", "No such"})
    if (text.find(word) != std::string_view::npos) return Error{ErrorKind::native, said, 0};
  return Error{ErrorKind::parse, "no PFC table: " + said, 0};
}

}  // namespace fabricgate
