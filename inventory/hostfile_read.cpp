#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "inventory/forms.hpp"
#include "inventory/hostfile.hpp"
#include "inventory/slurm_tasks.hpp"
#include "results/host_range.hpp"

namespace fabricgate {
namespace {

constexpr int max_slots_of_a_host = 65536;
constexpr std::size_t max_hosts = 65536;

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> out;
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return out;
}

/// The line without its comment; Open MPI takes blanks around '='.
std::string tidy(std::string_view line) {
  std::string out;
  bool after_equals = false;
  for (const char c : line.substr(0, line.find('#'))) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && after_equals) continue;
    if (c == '=') out.erase(out.find_last_not_of(" \t") + 1);
    after_equals = c == '=';
    out += c;
  }
  return out;
}

std::optional<int> count(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 1 || value > max_slots_of_a_host)
    return std::nullopt;
  return value;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

/// A line of a Slurm allocation's environment.
bool is_slurm_variable(std::string_view line) { return line.substr(0, 6) == "SLURM_" && line.find('=') != std::string_view::npos; }

bool is_address(std::string_view name) {
  return bool(parse_ipv4(name));
}

class HostfileReader {
 public:
  explicit HostfileReader(const std::string& file) : file_(file) {}

  void read_line(std::string_view line, int number, HostfileFormat format) {
    line_ = number;
    const std::string tidied = tidy(line);
    const std::vector<std::string_view> words = split(tidied, " \t\r\v\f");
    if (words.empty()) return;
    if (format == HostfileFormat::slurm) return is_slurm_variable(words[0]) ? read_variable(tidied) : read_ranges(words);
    HostSlots host{.line = line_};
    if (!read_host(words[0], format, host)) return;
    for (std::size_t i = 1; i < words.size(); ++i) read_key(words[i], format, host);
    if (host.max_slots != 0 && host.slots_given && host.slots > host.max_slots)
      problem("slots=" + std::to_string(host.slots) + " is more than max_slots=" + std::to_string(host.max_slots));
    add(std::move(host));
  }

  Result<std::vector<HostSlots>> finish() {
    if (hosts_.empty() && !older_nodes_.value.empty()) take_nodes(older_nodes_);
    if (tasks_.line > 0) give_tasks();
    if (hosts_.empty() && problems_.empty()) problem("no host in it");
    if (!problems_.empty()) return Error{ErrorKind::parse, problems_, 0};
    return std::move(hosts_);
  }

 private:
  void problem(const std::string& what) {
    if (problem_count_++ >= 100) return;
    problems_ += (problems_.empty() ? "" : "\n") + file_ + ':' + std::to_string(std::max(line_, 1)) + ": " + what;
  }

  bool read_host(std::string_view word, HostfileFormat format, HostSlots& host) {
    if (word[0] == '[' || std::count(word.begin(), word.end(), ':') > 1) {
      problem("IPv6 address '" + excerpt(word) + "': launchers differ in how they take it; use the node's name");
      return false;
    }
    if (word[0] == '^' || word[0] == '+' || word.find('@') != std::string_view::npos) {
      problem("'" + excerpt(word) +
              "': exclusions (^), relative nodes (+) and user@ are not supported; name the host alone");
      return false;
    }
    const std::size_t colon = word.find(':');
    if (colon != std::string_view::npos && format == HostfileFormat::open_mpi) {
      problem("'" + excerpt(word) + "': host:N is Hydra's form; Open MPI wants slots=N");
      return false;
    }
    if (colon != std::string_view::npos) give_slots(word.substr(colon + 1), host.slots_given, host.slots, "host:N");
    host.name = word.substr(0, colon);
    return check_name(host.name);
  }

  bool check_name(std::string_view name) {
    if (forms::node_name.matches(name) || is_address(name)) return true;
    problem(std::string("expected ") + forms::node_name.expected + ", found '" + excerpt(name) + "'");
    return false;
  }

  void give_slots(std::string_view digits, bool& given, int& slots, const std::string& key) {
    if (const auto value = count(digits)) {
      if (given) return problem("'" + key + "' is given twice on one line; a launcher takes one of them silently");
      given = true;
      slots = *value;
    } else {
      problem(key + ": expected a number from 1 to 65536, found '" + excerpt(digits) + "'");
    }
  }

  void read_key(std::string_view word, HostfileFormat format, HostSlots& host) {
    const std::size_t equals = word.find('=');
    const std::string key(word.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    bool max_given = host.max_slots != 0;
    if (format == HostfileFormat::open_mpi && (key == "slots" || key == "count" || key == "cpu")) {
      give_slots(value, host.slots_given, host.slots, key);
    } else if (format == HostfileFormat::open_mpi && (key == "max_slots" || key == "max-slots")) {
      give_slots(value, max_given, host.max_slots, key);
    } else if (is_address(host.name) && forms::node_name.matches(word)) {
      problem("'" + excerpt(word) + "' after an address: that is the form of /etc/hosts; a hostfile has one host a line (awk '{print $2}' makes one)");
    } else {
      problem(unknown("key", key, "",
                      format == HostfileFormat::open_mpi
                          ? std::vector<std::string_view>{"slots", "max_slots", "max-slots"}
                          : std::vector<std::string_view>{"host:N alone"}));
    }
  }

  void read_ranges(const std::vector<std::string_view>& words) {
    for (const std::string_view word : words) {
      if (word.find(':') != std::string_view::npos) {
        problem("'" + excerpt(word) + "': a Slurm node list has no ':' (IPv6 addresses and host:N are not supported)");
        continue;
      }
      const auto names = expand_hosts(word);
      if (!names) {
        problem(names.error().what);
        continue;
      }
      for (const std::string& name : *names)
        if (check_name(name)) add({.name = name, .line = line_});
    }
  }

  /// Others that Slurm sets say nothing that is asked for here.
  void read_variable(std::string_view line) {
    const std::size_t equals = line.find('=');
    const std::string_view name = line.substr(0, equals);
    const Variable variable{std::string(line.substr(equals + 1)), line_};
    if (name == "SLURM_JOB_NODELIST") take_nodes(variable);
    if (name == "SLURM_NODELIST") older_nodes_ = variable;  // the same again
    if (name != "SLURM_TASKS_PER_NODE") return;
    if (tasks_.line > 0) return problem("SLURM_TASKS_PER_NODE is given twice, first on line " + std::to_string(tasks_.line));
    tasks_ = variable;
  }

  struct Variable {
    std::string value;
    int line = 0;
  };

  void take_nodes(const Variable& variable) {
    line_ = variable.line;
    read_ranges(split(variable.value, " \t\r"));
  }

  void give_tasks() {
    line_ = tasks_.line;
    const auto tasks = expand_tasks_per_node(split(tasks_.value, " \t\r").empty() ? "" : split(tasks_.value, " \t\r")[0]);
    if (problem_count_ > 0) return;  // of the node list, so that its length says nothing
    if (!tasks) return problem("SLURM_TASKS_PER_NODE: " + tasks.error().what);
    if (tasks->size() != hosts_.size())
      return problem("SLURM_TASKS_PER_NODE is for " + std::to_string(tasks->size()) + " nodes, the node list has " + std::to_string(hosts_.size()));
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      hosts_[i].slots = (*tasks)[i];
      hosts_[i].slots_given = true;
    }
  }

  void add(HostSlots host) {
    host.slots = std::max(host.slots, 1);
    const std::string name = lower(host.name);
    const std::string short_name = is_address(name) ? name : name.substr(0, name.find('.'));
    const auto [entry, fresh] = by_short_.emplace(short_name, hosts_.size());
    if (fresh) {
      if (hosts_.size() == max_hosts) problem("more than 65536 hosts");
      if (hosts_.size() < max_hosts) hosts_.push_back(std::move(host));
      return;
    }
    if (entry->second >= hosts_.size()) return;
    HostSlots& first = hosts_[entry->second];
    if (lower(first.name) != name)
      return problem("'" + host.name + "' has the short name of '" + first.name + "' on line " +
                     std::to_string(first.line) + "; a launcher takes them for one host (launch.hostname_collision)");
    first.slots = std::min(first.slots + host.slots, max_slots_of_a_host);
    first.slots_given = first.slots_given || host.slots_given;
    first.max_slots = std::min(first.max_slots + host.max_slots, max_slots_of_a_host);
  }

  const std::string& file_;
  int line_ = 0, problem_count_ = 0;
  std::string problems_;
  std::vector<HostSlots> hosts_;
  std::unordered_map<std::string, std::size_t> by_short_;
  Variable tasks_, older_nodes_;
};

}  // namespace

std::optional<HostfileFormat> parse_hostfile_format(std::string_view text) {
  if (text == "open_mpi" || text == "openmpi") return HostfileFormat::open_mpi;
  if (text == "hydra") return HostfileFormat::hydra;
  if (text == "slurm") return HostfileFormat::slurm;
  return std::nullopt;
}

HostfileFormat guess_hostfile_format(std::string_view text) {
  bool slurm = false, hydra = false;
  for (const std::string_view line : split(text, "\n")) {
    const auto words = split(line.substr(0, line.find('#')), " \t\r");
    if (words.empty()) continue;
    if (is_slurm_variable(words[0])) return HostfileFormat::slurm;
    if (words.size() > 1) return HostfileFormat::open_mpi;  // only Open MPI has keys after the host
    const bool brackets = words[0].find('[') != std::string_view::npos && words[0].find(':') == std::string_view::npos;
    slurm = slurm || brackets || words[0].find(',') != std::string_view::npos;
    hydra = hydra || words[0].find(':') != std::string_view::npos;
  }
  return slurm ? HostfileFormat::slurm : hydra ? HostfileFormat::hydra : HostfileFormat::open_mpi;
}

namespace {

/// A top-level key of an inventory at the beginning of a line, as no launcher's file has it.
bool is_inventory(const std::string& text) {
  const std::string lines = "\n" + text;
  for (const char* key : {"schema", "cluster", "classes", "nodes"})
    for (const char* rest : {": ", ":\n"})
      if (lines.find("\n" + std::string(key) + rest) != std::string::npos) return true;
  return false;
}

}  // namespace

Result<std::vector<HostSlots>> read_hostfile(const std::string& text, const std::string& file, HostfileFormat format) {
  if (is_inventory(text))
    return Error{ErrorKind::parse, file + ": this is an inventory (YAML); a hostfile of Open MPI, Hydra or Slurm is needed", 0};
  HostfileReader reader(file);
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    reader.read_line(std::string_view(text).substr(begin, end - begin), number, format);
    begin = end + 1;
  }
  return reader.finish();
}

}  // namespace fabricgate
