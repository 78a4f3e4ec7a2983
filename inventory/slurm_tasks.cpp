#include "inventory/slurm_tasks.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace fabricgate {
namespace {

constexpr int most = 65536;  // of tasks on a node, and of nodes

std::optional<int> number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && value >= 1 && value <= most ? std::optional<int>(value) : std::nullopt;
}

/// `tasks` or `tasks(xnodes)`; 0 nodes: neither.
struct Part {
  int tasks = 0, nodes = 0;
};
Part part_from(std::string_view text) {
  const std::size_t open = text.find("(x");
  const auto tasks = number(text.substr(0, open));
  if (!tasks) return {};
  if (open == std::string_view::npos) return {.tasks = *tasks, .nodes = 1};
  if (text.back() != ')') return {};
  const auto nodes = number(text.substr(open + 2, text.size() - open - 3));
  return {.tasks = *tasks, .nodes = nodes.value_or(0)};
}

}  // namespace

Result<std::vector<int>> expand_tasks_per_node(std::string_view text) {
  std::vector<int> tasks;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    const Part part = part_from(word);
    if (part.nodes == 0)
      return Error{ErrorKind::parse,
                   "expected tasks or tasks(xnodes) of 1 to 65536 each, as in 4(x3),2; found '" +
                       std::string(word.substr(0, 60)) + "'",
                   0};
    if (tasks.size() + static_cast<std::size_t>(part.nodes) > most)
      return Error{ErrorKind::parse, "more than 65536 nodes", 0};
    tasks.insert(tasks.end(), static_cast<std::size_t>(part.nodes), part.tasks);
  }
  return tasks;
}

}  // namespace fabricgate
