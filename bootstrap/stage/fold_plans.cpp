#include "bootstrap/stage/fold_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "inventory/inventory.hpp"
#include "results/host_range.hpp"

namespace fabricgate::bootstrap {
namespace {

using Group = std::vector<const NodePlan*>;

bool of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.';
}

bool of_bytes(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':';
}

std::string text_of(const OwnWord& word) {
  if (word.bytes == 0) return format_ipv4(static_cast<std::uint32_t>(word.value));
  std::string out;
  for (int shift = 8 * (word.bytes - 1); shift >= 0; shift -= 8)
    out += fmt::format("{:02x}{}", word.value >> shift & 0xff, shift == 0 ? "" : ":");
  return out;
}

bool stands_alone(const std::string& text, std::size_t begin, std::size_t end, const OwnWord& word) {
  if (word.bytes > 0) return (begin == 0 || !of_bytes(text[begin - 1])) && end < text.size() && text[end] == ':';
  return (begin == 0 || !of_number(text[begin - 1])) && (end == text.size() || !of_number(text[end]));
}

/// `text` with `word` replaced wherever it stands alone: 10.0.0.1 is not a part of 10.0.0.12 or 110.0.0.1.
std::string with_placeholder(const std::string& text, const OwnWord& word, const std::string& placeholder) {
  const std::string address = text_of(word);
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = text.find(address); at != std::string::npos; at = text.find(address, at + 1)) {
    const std::size_t end = at + address.size();
    if (!stands_alone(text, at, end, word)) continue;
    out += text.substr(begin, at - begin) + placeholder;
    begin = end;
  }
  return out + text.substr(begin);
}

std::string placeholder(const std::string& rail) {
  return '{' + rail + '}';
}

std::vector<std::string> pattern(const NodePlan& node) {
  std::vector<std::string> out = node.commands;
  for (std::string& command : out)
    for (const OwnWord& word : node.addresses) command = with_placeholder(command, word, placeholder(word.name));
  return out;
}

/// Rails whose placeholder stands in the commands.
std::vector<std::size_t> rails_in(const NodePlan& node, const std::vector<std::string>& commands) {
  std::vector<std::size_t> used;
  for (std::size_t rail = 0; rail < node.addresses.size(); ++rail)
    if (std::any_of(commands.begin(), commands.end(), [&](const std::string& command) {
          return command.find(placeholder(node.addresses[rail].name)) != std::string::npos;
        }))
      used.push_back(rail);
  return used;
}

std::vector<std::string> names_of(const Group& group) {
  std::vector<std::string> names;
  for (const NodePlan* node : group) names.push_back(node->name);
  return names;
}

/// True when `group` and `next` are one row: every address is one more than the last, and the folded names say that
/// order.
bool continues(const Group& group, const NodePlan& next, const std::vector<std::size_t>& rails) {
  const auto up = [&](std::size_t rail) {
    return next.addresses[rail].value == group.back()->addresses[rail].value + 1;
  };
  if (!std::all_of(rails.begin(), rails.end(), up)) return false;
  const std::vector<std::string> pair{group.back()->name, next.name};
  const auto said = expand_hosts(fold_hosts(pair));
  return said && *said == pair;
}

std::string rows(const Group& group, const std::vector<std::size_t>& rails) {
  std::vector<Group> runs;
  for (const NodePlan* node : group) {
    if (runs.empty() || !continues(runs.back(), *node, rails)) runs.emplace_back();
    runs.back().push_back(node);
  }
  std::string out = "    each node with its own address:\n";
  for (const Group& run : runs) {
    out += "        " + fold_hosts(names_of(run));
    for (const std::size_t rail : rails) {
      const OwnWord& first = run.front()->addresses[rail];
      out += fmt::format("  {} {}", placeholder(first.name), text_of(first));
      if (run.size() > 1) out += " to " + text_of(run.back()->addresses[rail]);
    }
    out += '\n';
  }
  return out;
}

std::string block(const Group& group, const std::vector<std::string>& folded) {
  const NodePlan& first = *group.front();
  const bool literal =
      std::all_of(group.begin(), group.end(), [&](const NodePlan* node) { return node->commands == first.commands; });
  std::string out = fold_hosts(names_of(group)) + ": " + first.head + '\n';
  for (const std::string& command : literal ? first.commands : folded) out += "    " + command + '\n';
  return literal ? out : out + rows(group, rails_in(first, folded));
}

}  // namespace

std::string fold_plans(const std::vector<NodePlan>& nodes) {
  using Key = std::pair<std::string, std::vector<std::string>>;
  std::map<Key, Group> groups;
  std::vector<const Key*> order;
  for (const NodePlan& node : nodes) {
    const auto [group, fresh] = groups.try_emplace({node.head, pattern(node)});
    if (fresh) order.push_back(&group->first);
    group->second.push_back(&node);
  }
  std::string text;
  for (const Key* key : order) text += block(groups.at(*key), key->second);
  return text;
}

}  // namespace fabricgate::bootstrap
