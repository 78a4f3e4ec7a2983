/// Distribution packages. A package manager that is at work is waited for, a bounded time; its locks are never removed,
/// for they are what keeps its database whole.
#include <algorithm>

#include "bootstrap/steps/package_run.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

bool valid_name(const std::string& name) {
  return !name.empty() && name.front() != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._:=~*") ==
             std::string::npos;
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// "libucx0:amd64=1.13.1-1" is asked for by its name alone.
std::string bare(const std::string& package) {
  return package.substr(0, package.find_first_of(":="));
}

Result<json> observe_packages(StepContext& context) {
  const Desired& desired = context.desired;
  if (desired.packages.empty()) return json::object();
  for (const std::string& name : desired.packages)
    if (!valid_name(name)) return Error{ErrorKind::parse, "'" + name + "' is not the name of a package", 0};
  const PackageManager* manager = package_manager(context.host);
  if (!manager) return Error{ErrorKind::unavailable, "packages: neither apt-get nor dnf on this node", 0};
  Words names;
  for (const std::string& name : desired.packages) names.push_back(bare(name));
  auto answer = context.host.run(with(manager->query, names), context.deadline.at_most(30));
  if (!answer) return answer.error();
  const auto installed = parse_installed(*manager, answer->out);
  json missing = json::array();
  for (const std::string& name : desired.packages)
    if (std::find(installed.begin(), installed.end(), bare(name)) == installed.end()) missing.push_back(name);
  auto unfinished = context.host.list("/var/lib/dpkg/updates");
  return json{{"manager", manager->name},
              {"missing", missing},
              {"interrupted", manager->name == "apt" && unfinished && !unfinished->empty()}};
}

/// What is run, in order; the last one installs.
std::vector<Words> commands_for(const PackageManager& manager, const json& observed) {
  std::vector<Words> out;
  const auto missing = observed.at("missing").get<Words>();
  if (missing.empty()) return out;
  if (observed.at("interrupted").get<bool>()) out.push_back(manager.repair);
  out.insert(out.end(), manager.prepare.begin(), manager.prepare.end());
  out.push_back(with(manager.install, missing));
  return out;
}

StepPlan plan_packages(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (desired.packages.empty()) return plan;
  if (!desired.manage.packages) {
    for (const json& name : observed.at("missing"))
      plan.findings.push_back(make_finding("host.package_absent", {.host = desired.node},
                                           "package " + name.get<std::string>() + " installed", "not installed"));
    return plan;
  }
  for (const Words& command : commands_for(package_manager_named(text_under(observed, "manager")), observed))
    plan.actions.push_back({shell_line(command)});
  return plan;
}

Status apply_packages(StepContext& context, const json& observed) {
  const PackageManager& manager = package_manager_named(text_under(observed, "manager"));
  return install_packages(context, manager, commands_for(manager, observed));
}

}  // namespace

const Step packages_step{"packages", observe_packages, plan_packages, apply_packages};

}  // namespace fabricgate::bootstrap
