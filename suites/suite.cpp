#include "suites/suite.hpp"

#include <set>

#include "results/file.hpp"
#include "suites/check.hpp"
#include "suites/embedded.hpp"
#include "suites/strict_yaml.hpp"

namespace fabricgate::suites {
namespace {

std::set<std::string> check_names() {
  std::set<std::string> names;
  for (const Check& check : catalogue()) names.insert(check.id);
  return names;
}

}  // namespace

const SuiteCheck* Suite::find(const std::string& id) const {
  const auto found = checks.find(id);
  return found == checks.end() ? nullptr : &found->second;
}

Result<Suite> parse_suite(const std::string& text, const std::string& name) {
  Suite suite;
  suite.checksum = sha256_hex(text);
  const Status status = read_yaml(text, name, [&](const YAML::Node& root) {
    const StrictMap file(root, "the suite", {"schema", "name", "full_coverage_nodes", "minimum_partners", "checks"});
    if (file.count("schema") != 1) throw YamlProblem{file.at("schema").Mark(), "schema: this program reads 1"};
    suite.name = file.text("name");
    suite.full_coverage_nodes = file.count("full_coverage_nodes");
    suite.minimum_partners = file.count("minimum_partners");
    if (suite.minimum_partners < 1) throw YamlProblem{file.at("minimum_partners").Mark(), "minimum_partners must be at least 1"};
    const StrictMap checks(file.at("checks"), "checks", check_names());
    if (checks.entries().empty()) throw YamlProblem{checks.mark(), "a suite without checks proves nothing"};
    for (const auto& [id, value] : checks.entries()) {
      const StrictMap demand(value, "check " + id, {"may_skip"});
      suite.checks[id].may_skip = demand.flag("may_skip");
    }
  });
  if (!status) return status.error();
  return suite;
}

Status check_built_in(const std::string& name) {
  if (name == "default") return {};
  return Error{
      ErrorKind::parse,
      "suite: unknown suite '" + name + "'; built in: default; a suite of your own is a file, given with --suite", 0};
}

const std::string& default_suite_text() {
  static const std::string text = embedded_suite();
  return text;
}

}  // namespace fabricgate::suites
