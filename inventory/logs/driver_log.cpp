#include "inventory/logs/driver_log.hpp"

#include <algorithm>
#include <sstream>

namespace fabricgate {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

void add_once(std::vector<std::string>& out, const std::string& text) {
  if (!text.empty() && std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
}

/// The word behind `phrase`, without what surrounds it; empty when the phrase is not there.
std::string word_after(const std::string& line, std::string_view phrase) {
  const auto at = line.find(phrase);
  if (at == std::string::npos) return "";
  const std::string rest = line.substr(at + phrase.size());
  const auto begin = rest.find_first_not_of(" '\"");
  if (begin == std::string::npos) return "";
  return rest.substr(begin, rest.find_first_of(" '\":,[", begin) - begin);
}

/// "/lib/modules/6.1/extra/mlx5_ib.ko.xz" → mlx5_ib
std::string module_name(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  return file.substr(0, file.find(".ko"));
}

std::string failed_module(const std::string& line) {
  for (const char* phrase : {"Failed loading kernel module", "could not insert module", "could not insert",
                             "FATAL: Module", "Error inserting"})
    if (const std::string name = word_after(line, phrase); !name.empty()) return module_name(name);
  // "Module mlx5_core does not exist, skipping...", "Module mlx5_core belong to kernel which is not a part of MLNX…"
  for (const char* phrase : {" does not exist, skipping", " belong to "})
    if (line.rfind("Module ", 0) == 0 && line.find(phrase) != std::string::npos) return word_after(line, "Module ");
  return "";
}

/// Packages of the vendors' stacks that DKMS builds; others are other drivers.
bool builds_stack(const std::string& line) {
  for (const char* package : {"mlnx-ofed", "mlnx_ofed", "MLNX_OFED", "ofa_kernel", "mlnx-nfsrdma", "mlnx-nvme", "iser",
                              "srp", "mlx5_core", "mlx5_ib", "ib_core"})
    if (line.find(package) != std::string::npos) return true;
  return false;
}

bool says_build_failed(const std::string& line) {
  for (const char* phrase :
       {"Bad return status for module build", "Failed to build", "Failed executing", "Failed to execute"})
    if (line.find(phrase) != std::string::npos) return true;
  return line.find("Build of ") != std::string::npos && line.find(" failed for") != std::string::npos;
}

}  // namespace

std::vector<std::string> terminal_lines(std::string_view text) {
  std::vector<std::string> out{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') {
      if (!out.back().empty()) out.emplace_back();
    } else if (text[i] == '\x1b') {
      // ESC [ parameters letter: spaces stand for a cursor that was moved
      if (i + 1 < text.size() && text[i + 1] == '[') ++i;
      while (i + 1 < text.size() &&
             (text[i + 1] == ';' || text[i + 1] == '?' || (text[i + 1] >= '0' && text[i + 1] <= '9')))
        ++i;
      if (i + 1 < text.size() && text[++i] != 'm') out.back() += ' ';
    } else {
      out.back() += text[i];
    }
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

std::vector<std::string> failed_modules(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& line : terminal_lines(text)) add_once(out, failed_module(line));
  return out;
}

std::vector<std::string> held_modules(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& line : terminal_lines(text)) {
    const auto at = line.find(" is in use");
    if (at == std::string::npos) continue;
    const std::string name = word_after(line.substr(0, at), "odule ");
    if (!name.empty()) add_once(out, name + ": " + line.substr(at + 4));
  }
  return out;
}

std::string build_failure(std::string_view text) {
  const auto lines = terminal_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!says_build_failed(lines[i])) continue;
    // DKMS names the package in one of the next two lines: the folder of its log
    const std::string about =
        lines[i] + (i + 1 < lines.size() ? lines[i + 1] : "") + (i + 2 < lines.size() ? lines[i + 2] : "");
    if (builds_stack(about)) return lines[i];
  }
  return "";
}

std::vector<std::string> named_logs(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& line : terminal_lines(text)) {
    for (std::string word : words_of(line)) {
      while (!word.empty() && std::string_view("'\"(,.:;)").find(word.back()) != std::string_view::npos)
        word.pop_back();
      while (!word.empty() && std::string_view("'\"(").find(word.front()) != std::string_view::npos) word.erase(0, 1);
      if (word.empty() || word.front() != '/') continue;
      if (word.size() > 4 && word.compare(word.size() - 4, 4, ".log") == 0) add_once(out, word);
      if (word.rfind("/var/lib/dkms/", 0) == 0 && word.size() > 7 && word.compare(word.size() - 7, 7, "/build/") == 0)
        add_once(out, word + "make.log");
    }
  }
  return out;
}

std::optional<CompilerError> first_compiler_error(std::string_view log) {
  int number = 0;
  std::istringstream lines{std::string(log)};
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (const char* mark : {": error: ", ": fatal error: ", "ERROR: modpost: "})
      if (line.find(mark) != std::string::npos) return CompilerError{number, line};
  }
  return std::nullopt;
}

std::string mlnx_ofed_release(std::string_view ofed_info) {
  const std::string_view start = "MLNX_OFED_LINUX-";
  const auto at = ofed_info.find(start);
  if (at == std::string_view::npos) return "";
  const std::string rest(ofed_info.substr(at + start.size()));
  return rest.substr(0, rest.find_first_of(": \r\n"));
}

}  // namespace fabricgate
