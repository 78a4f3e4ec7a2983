#pragma once
/// Strict reading of the small YAML files of this folder: an unknown or repeated key or a wrong type is an error with
/// file:line:column, what was expected and the nearest known key. Only for .cpp files of suites/.
#include <yaml-cpp/yaml.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::suites {

/// Thrown and caught inside one parse function; never leaves it.
struct YamlProblem {
  YAML::Mark mark;
  std::string what;
};

/// A mapping whose keys are all known and appear once. Throws YamlProblem. `where` is used in messages ("limit x").
class StrictMap {
 public:
  /// An empty `known` accepts any key.
  StrictMap(const YAML::Node& node, std::string where, const std::set<std::string>& known);

  bool has(const std::string& key) const;
  /// The value; throws when absent, naming the mapping.
  const YAML::Node& at(const std::string& key) const;
  const std::vector<std::pair<std::string, YAML::Node>>& entries() const { return entries_; }
  YAML::Mark mark() const { return mark_; }

  std::string text(const std::string& key) const;
  double number(const std::string& key) const;  ///< finite
  bool flag(const std::string& key) const;
  int count(const std::string& key) const;  ///< >= 0

 private:
  const std::string& scalar(const std::string& key, const char* expected) const;

  std::string where_;
  YAML::Mark mark_;
  std::vector<std::pair<std::string, YAML::Node>> entries_;
};

/// ", did you mean 'x'?" or empty.
std::string nearest_hint(const std::string& key, const std::set<std::string>& known);

/// Parses `text`, calls `body` with the document, turns everything thrown into an Error "name:line:column: …".
Status read_yaml(const std::string& text, const std::string& name, const std::function<void(const YAML::Node&)>& body);

}  // namespace fabricgate::suites
