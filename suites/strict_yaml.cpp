#include "suites/strict_yaml.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fabricgate::suites {
namespace {

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

Error at(const std::string& name, const YAML::Mark& mark, const std::string& what) {
  std::string place = name;
  if (!mark.is_null()) place += ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
  return {ErrorKind::parse, place + ": " + what, 0};
}

}  // namespace

std::string nearest_hint(const std::string& key, const std::set<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, key.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t d = distance(key, candidate);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best.empty() ? "" : ", did you mean '" + best + "'?";
}

StrictMap::StrictMap(const YAML::Node& node, std::string where, const std::set<std::string>& known)
    : where_(std::move(where)), mark_(node.Mark()) {
  if (!node.IsMap()) throw YamlProblem{mark_, "expected a mapping for " + where_};
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) throw YamlProblem{entry.first.Mark(), "a key of " + where_ + " is not plain text"};
    const std::string key = entry.first.Scalar();
    if (!known.empty() && known.count(key) == 0)
      throw YamlProblem{entry.first.Mark(), "unknown key '" + key + "' in " + where_ + nearest_hint(key, known)};
    if (!seen.insert(key).second) throw YamlProblem{entry.first.Mark(), "key '" + key + "' appears twice in " + where_};
    entries_.emplace_back(key, entry.second);
  }
}

bool StrictMap::has(const std::string& key) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == key; });
}

const YAML::Node& StrictMap::at(const std::string& key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return value;
  throw YamlProblem{mark_, where_ + " lacks '" + key + "'"};
}

const std::string& StrictMap::scalar(const std::string& key, const char* expected) const {
  const YAML::Node& value = at(key);
  if (!value.IsScalar()) throw YamlProblem{value.Mark(), "'" + key + "' in " + where_ + ": expected " + expected};
  return value.Scalar();
}

std::string StrictMap::text(const std::string& key) const {
  const std::string& value = scalar(key, "text");
  if (value.empty()) throw YamlProblem{at(key).Mark(), "'" + key + "' in " + where_ + " is empty"};
  return value;
}

double StrictMap::number(const std::string& key) const {
  const std::string& value = scalar(key, "a number");
  double out = 0;
  const auto end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, out);
  if (error != std::errc() || stop != end || !std::isfinite(out))
    throw YamlProblem{at(key).Mark(), "'" + key + "' in " + where_ + ": expected a finite number, found '" + value + "'"};
  return out;
}

bool StrictMap::flag(const std::string& key) const {
  const std::string& value = scalar(key, "true or false");
  if (value != "true" && value != "false")
    throw YamlProblem{at(key).Mark(), "'" + key + "' in " + where_ + ": expected true or false, found '" + value + "'"};
  return value == "true";
}

int StrictMap::count(const std::string& key) const {
  const double value = number(key);
  if (value < 0 || value > 1e9 || value != std::floor(value))
    throw YamlProblem{at(key).Mark(), "'" + key + "' in " + where_ + ": expected a whole number >= 0"};
  return static_cast<int>(value);
}

Status read_yaml(const std::string& text, const std::string& name, const std::function<void(const YAML::Node&)>& body) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty() || documents[0].IsNull()) return at(name, YAML::Mark::null_mark(), "the file is empty");
    if (documents.size() > 1) return at(name, documents[1].Mark(), "expected one YAML document, found several");
    body(documents[0]);
    return {};
  } catch (const YamlProblem& problem) {
    return at(name, problem.mark, problem.what);
  } catch (const YAML::Exception& problem) {
    return at(name, problem.mark, problem.msg);
  }
}

}  // namespace fabricgate::suites
