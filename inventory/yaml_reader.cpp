#include "inventory/yaml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <tuple>

namespace fabricgate {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({change, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (const auto& word : words) out.append(out.empty() ? "" : ", ").append(word);
  return out;
}

constexpr std::size_t max_problems = 1000;

/// What import and learn write where a person has to decide. It would pass for a name of many kinds.
constexpr std::string_view to_be_filled_in = "CHANGE-ME";

template <class T>
bool parse_whole(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// 010 is eight in YAML 1.1 and ten in YAML 1.2: refused.
bool leading_zero(std::string_view digits) {
  if (!digits.empty() && digits[0] == '-') digits.remove_prefix(1);
  return digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
}

}  // namespace

std::string nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
  if (text.size() > 60) return "";
  std::size_t best = std::max<std::size_t>(2, text.size() / 3) + 1;
  std::string_view found;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < best && distance < candidate.size()) std::tie(best, found) = std::pair(distance, candidate);
  }
  return std::string(found);
}

std::string unknown(std::string_view kind, std::string_view text, std::string_view where,
                    const std::vector<std::string_view>& candidates) {
  const std::string near = nearest(text, candidates);
  std::string out = "unknown ";
  out.append(kind).append(" '").append(excerpt(text)).append("'");
  if (!where.empty()) out.append(" in ").append(where);
  return out + (near.empty() ? "; known: " + joined(candidates) : ", did you mean '" + near + "'?");
}

void YamlReader::problem(Mark mark, std::string what) {
  if (problems_.size() > max_problems) return;
  if (problems_.size() == max_problems) what = "and more; the first 1000 problems are shown";
  problems_.push_back({.file = file_, .line = mark.line, .column = mark.column, .what = std::move(what)});
}

void YamlReader::add(std::vector<InventoryProblem> problems) {
  problems_.insert(problems_.end(), std::make_move_iterator(problems.begin()), std::make_move_iterator(problems.end()));
}

std::vector<InventoryProblem> YamlReader::take_problems() {
  const auto key = [](const InventoryProblem& p) { return std::tie(p.line, p.column, p.what); };
  std::stable_sort(problems_.begin(), problems_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto same = [&](const auto& a, const auto& b) { return key(a) == key(b); };
  problems_.erase(std::unique(problems_.begin(), problems_.end(), same), problems_.end());
  return std::move(problems_);
}

void YamlReader::map(const YamlNode& node, std::string_view what, const std::vector<Field>& fields) {
  if (node.kind != YamlNode::Kind::map) {
    problem(node.mark, std::string(what) + ": expected a map, found " + describe(node));
    return;
  }
  for (const YamlNode& key : node.keys) {
    const bool reported = key.kind != YamlNode::Kind::scalar || key.text == "<<";
    if (reported || std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key.text; }))
      continue;
    std::vector<std::string_view> known;
    for (const Field& field : fields) known.push_back(field.key);
    problem(key.mark, unknown("key", key.text, what, known));
  }
  for (const Field& field : fields) {
    const YamlNode* value = node.find(field.key);
    if (value != nullptr) field.read(*value);
    if (value == nullptr && field.required)
      problem(node.mark, std::string(what) + ": key '" + std::string(field.key) + "' is missing");
  }
}

void YamlReader::list(const YamlNode& node, std::string_view key, const std::function<void(const YamlNode&)>& read) {
  if (node.kind != YamlNode::Kind::sequence) {
    problem(node.mark, std::string(key) + ": expected a list, found " + describe(node));
    return;
  }
  for (const YamlNode& item : node.items) read(item);
}

bool YamlReader::expect_scalar(const YamlNode& node, std::string_view key, const std::string& expected, bool plain) {
  if (node.kind == YamlNode::Kind::scalar && node.text.find(to_be_filled_in) != std::string::npos) {
    problem(node.mark, std::string(key) + ": fill in " + expected + ", found " + describe(node));
    return false;
  }
  if (node.kind == YamlNode::Kind::scalar && !(plain && node.quoted)) return true;
  const std::string quotes = node.kind == YamlNode::Kind::scalar ? " in quotes" : "";
  problem(node.mark, std::string(key) + ": expected " + expected + ", found " + describe(node) + quotes);
  return false;
}

bool YamlReader::text(const YamlNode& node, std::string_view key, const Form& form, std::string& out) {
  if (!expect_scalar(node, key, form.expected, false)) return false;
  if (!form.matches(node.text)) {
    problem(node.mark, std::string(key) + ": expected " + form.expected + ", found " + describe(node));
    return false;
  }
  out = node.text;
  return true;
}

bool YamlReader::integer(const YamlNode& node, std::string_view key, std::pair<std::int64_t, std::int64_t> range,
                         std::int64_t& out) {
  const std::string only = "the integer " + std::to_string(range.first);
  const std::string between = "an integer from " + std::to_string(range.first) + " to " + std::to_string(range.second);
  const std::string& expected = range.first == range.second ? only : between;
  if (!expect_scalar(node, key, expected, true)) return false;
  std::int64_t value = 0;
  if (!parse_whole(node.text, value) || leading_zero(node.text) || value < range.first || value > range.second) {
    problem(node.mark, std::string(key) + ": expected " + expected + ", found " + describe(node));
    return false;
  }
  out = value;
  return true;
}

bool YamlReader::integer(const YamlNode& node, std::string_view key, std::pair<int, int> range, int& out) {
  std::int64_t value = 0;
  if (!integer(node, key, std::pair<std::int64_t, std::int64_t>(range.first, range.second), value)) return false;
  out = static_cast<int>(value);
  return true;
}

bool YamlReader::number(const YamlNode& node, std::string_view key, std::pair<double, double> range, double& out) {
  const std::string expected = fmt::format("a number from {:g} to {:g}", range.first, range.second);
  if (!expect_scalar(node, key, expected, true)) return false;
  double value = 0;
  if (!parse_whole(node.text, value) || leading_zero(node.text) || !std::isfinite(value) || value < range.first ||
      value > range.second) {
    problem(node.mark, std::string(key) + ": expected " + expected + ", found " + describe(node));
    return false;
  }
  out = value;
  return true;
}

bool YamlReader::boolean(const YamlNode& node, std::string_view key, bool& out) {
  if (!expect_scalar(node, key, "true or false", true)) return false;
  if (node.text != "true" && node.text != "false") {
    problem(node.mark, std::string(key) + ": expected true or false, found " + describe(node));
    return false;
  }
  out = node.text == "true";
  return true;
}

int YamlReader::word(const YamlNode& node, std::string_view key, std::initializer_list<const char*> words) {
  const std::vector<std::string_view> known(words.begin(), words.end());
  if (!expect_scalar(node, key, "one of " + joined(known), false)) return -1;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (node.text == known[i]) return static_cast<int>(i);
  const std::string near = nearest(node.text, known);
  problem(node.mark, std::string(key) + ": expected one of " + joined(known) + ", found " + describe(node) +
                         (near.empty() ? "" : ", did you mean '" + near + "'?"));
  return -1;
}

}  // namespace fabricgate
