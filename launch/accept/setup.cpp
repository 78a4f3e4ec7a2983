#include "launch/accept/setup.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "inventory/host/process.hpp"
#include "launch/accept/pair_plan.hpp"
#include "launch/build_id.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"
#include "suites/check.hpp"

namespace fabricgate::launch {

std::string new_run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  unsigned salt = 0;
  if (getrandom(&salt, sizeof salt, 0) != static_cast<ssize_t>(sizeof salt)) salt = static_cast<unsigned>(now);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}-{:06x}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec, salt & 0xffffffU);
}

namespace {

/// ", there are a.yaml, b.yaml" of the folder of `path`.
std::string yaml_beside(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = std::filesystem::absolute(path, error).parent_path();
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end && names.size() < 1000;
       i.increment(error))
    if (i->path().extension() == ".yaml" || i->path().extension() == ".yml")
      names.push_back(i->path().filename().string());
  std::sort(names.begin(), names.end());
  if (names.size() > 8) names.resize(8);
  return names.empty() ? "" : fmt::format(", beside it are {}", fmt::join(names, ", "));
}

}  // namespace

Status read_demands(const DemandFiles& files, Job& job) {
  struct Demand {
    const char* option;
    const std::string& path;
    std::string& text;
  };
  for (const Demand& each :
       {Demand{"--limits", files.limits, job.limits_text}, Demand{"--suite", files.suite, job.suite_text}}) {
    if (each.path.empty()) continue;
    auto read = read_file(each.path, written_by_hand_bytes);
    if (!read && read.error().kind == ErrorKind::unavailable)
      return Error{ErrorKind::unavailable,
                   fmt::format("{} {}: no such file{}; without {} the built-in one, default, is used", each.option,
                               each.path, yaml_beside(each.path), each.option),
                   0};
    if (!read) return read.error().with(each.option);
    if (read->empty()) return Error{ErrorKind::parse, each.path + ": the file is empty", 0};
    each.text = std::move(*read);
  }
  return {};
}

Result<Setup> make_setup(Job job, const DemandFiles& files) {
  LoadedInventory loaded = parse_inventory(job.inventory_text, "inventory");
  if (!loaded.inventory) {
    std::string what = "inventory of the job";
    for (const InventoryProblem& problem : loaded.problems) what += "\n" + to_string(problem);
    return Error{ErrorKind::parse, what, 0};
  }
  Setup setup{.job = std::move(job), .inventory = std::move(*loaded.inventory), .started_unix_s = unix_now_s()};
  const bool built_in = setup.job.limits_text.empty();
  auto limits = suites::parse_limits(built_in ? suites::default_limits_text() : setup.job.limits_text,
                                     built_in ? "built-in limits" : files.limits.empty() ? "limits" : files.limits, suites::platform_of(setup.inventory));
  if (!limits) return limits.error();
  setup.limits = std::move(*limits);
  const bool own_suite = !setup.job.suite_text.empty();
  if (auto known = own_suite ? Status() : suites::check_built_in(setup.inventory.suite); !known) return known.error();
  auto suite = suites::parse_suite(own_suite ? setup.job.suite_text : suites::default_suite_text(), own_suite ? (files.suite.empty() ? "suite" : files.suite) : "built-in suite");
  if (!suite) return suite.error();
  setup.suite = std::move(*suite);
  return setup;
}

suites::Suite suite_of_tiers(const suites::Suite& suite, const std::vector<Tier>& tiers) {
  suites::Suite out = suite;
  for (auto check = out.checks.begin(); check != out.checks.end();) {
    const suites::Check* known = suites::find_check(check->first);
    const bool wanted = known && std::find(tiers.begin(), tiers.end(), known->tier) != tiers.end();
    if (!wanted) out.only = tiers;
    check = wanted ? std::next(check) : out.checks.erase(check);
  }
  return out;
}

GateResult gate_through(const Setup& setup, const std::string& lines, Tier through) {
  const suites::Suite suite = suite_of_tiers(setup.suite, setup.job.tiers);
  return suites::gate({.inventory = setup.inventory, .suite = suite, .limits = setup.limits, .identity = setup.job.identity, .through = through,
                       .short_budget_s = short_budget_s(setup.inventory, setup.job.options.budget_s)},
                      {{"records", lines}});
}

Job job_by_hand(const Inventory& inventory, const AcceptOptions& options) {
  Job job{.identity = {.run = new_run_id(), .inventory = inventory.checksum, .build = own_build_id(), .suite = inventory.suite},
          .name = "accept",
          .inventory_text = inventory.text,
          .tiers = {Tier::host, Tier::link, Tier::pair, Tier::collective},
          .options = options,
          .head = own_host_name()};
  for (const Node& node : inventory.nodes) job.hosts.push_back(node.name);
  return job;
}

Record judged(const Setup& setup, Measured measured) {
  return suites::judged({setup.inventory, setup.limits}, {.identity = setup.job.identity,
                                                          .check = std::move(measured.check),
                                                          .hosts = std::move(measured.hosts),
                                                          .rail = std::move(measured.rail),
                                                          .attempt = measured.attempt,
                                                          .sample = std::move(measured.sample),
                                                          .started_unix_s = measured.started_unix_s,
                                                          .elapsed_s = measured.elapsed_s});
}

Record held_against_limits(const Setup& setup, Record record) {
  if (!opens_gate(record.verdict)) return record;  // what it says of itself is why
  Record again = suites::judged({setup.inventory, setup.limits}, record);
  if (opens_gate(again.verdict)) return record;
  again.findings.insert(again.findings.end(), record.findings.begin(), record.findings.end());
  return again;
}

}  // namespace fabricgate::launch
