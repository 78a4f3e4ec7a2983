#include "launch/gate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "launch/accept/pair_plan.hpp"
#include "launch/interrupt.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"
#include "results/gate_result.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {

Record statement(const Setup& setup, Tier tier, const std::string& host, const Finding& finding, int attempt) {
  const char* check = tier == Tier::stage  ? "stage.node"
                      : tier == Tier::host ? "host.facts"
                      : tier == Tier::link ? "link.rail"
                      : tier == Tier::pair ? "pair.rail"
                                           : "collective.allreduce";
  return {.identity = setup.job.identity,
          .check = check,
          .tier = tier,
          .hosts = {host},
          .attempt = attempt,
          .verdict = finding.verdict,
          .reason = finding.found,
          .findings = {finding},
          .started_unix_s = unix_now_s()};
}

Status write_verdict(const std::string& folder, const Setup& setup, const GateResult& result) {
  Status first;
  const std::string& cluster = setup.inventory.cluster;
  for (const auto& [name, text] : {std::pair{"table.txt", to_table(result)},
                                   {"summary.json", to_summary(result, setup.job.identity, cluster)},
                                   {"junit.xml", to_junit(result, setup.job.identity, cluster)}})
    if (auto written = write_file_atomic(folder + "/" + name, text); !written && first) first = written;
  return first;
}

bool busy_everywhere(const GateResult& result) {
  return std::all_of(result.nodes.begin(), result.nodes.end(), [](const NodeResult& node) {
    return !node.findings.empty() && node.findings[0].cause == "stage.node_busy";
  });
}

Status write_result(const RunFolder& folder, const Setup& setup, const GateResult& result) {
  const Status records = folder.write_records();
  const Status verdict = write_verdict(folder.path(), setup, result);
  return records ? verdict : records;
}

suites::GateInput gate_input(const RunFolder& folder, const Setup& setup, const suites::Suite& suite) {
  return {.inventory = setup.inventory,
          .suite = suite,
          .limits = setup.limits,
          .identity = setup.job.identity,
          .short_budget_s = short_budget_s(setup.inventory, setup.job.options.budget_s),
          .interrupted = folder.interrupted(),
          .unfinished = folder.unfinished(),
          .findings = folder.findings()};
}

int report_run(const RunFolder& folder, const Setup& setup, const suites::Suite& suite, const std::string& host) {
  if (interrupted())
    if (auto noted = folder.note_interrupt(interrupt_name()); !noted) log::error(noted.error().what);
  const GateResult result = suites::gate(gate_input(folder, setup, suite), folder.record_files());
  const Status written = write_result(folder, setup, result);
  fmt::print("{}", to_table(result));
  if (!written) fmt::print("this result could not be kept: {}\n", written.error().what);
  fmt::print("run folder {}{}{}\n", host, host.empty() ? "" : ":", folder.path());
  if (written && !busy_everywhere(result)) {
    const std::filesystem::path path(folder.path());
    if (auto linked = point_latest(path.parent_path().string(), path.filename().string()); !linked) log::warn(linked.error().what);
  }
  const bool shown = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!shown) log::error("the verdict could not be written to standard output");
  // a READY that nobody can read afterwards is none
  if ((interrupted() || !written || !shown) && result.exit_code == ExitCode::ready) return static_cast<int>(ExitCode::inconclusive);
  return static_cast<int>(result.exit_code);
}

}  // namespace fabricgate::launch
