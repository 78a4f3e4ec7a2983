// A tier is a job, and a job that loses a node is started again without it: Open MPI ends every rank when one dies, so what
// was measured until then is fetched first and not measured twice. Who was lost is told, in this order, by rank 0's status
// file, by nodes that no longer answer, by mpirun's own messages, and by trying each node's launcher daemon alone.
#include "launch/gate/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/stage/stage.hpp"
#include "inventory/hostfile.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/gate/report.hpp"
#include "launch/interrupt.hpp"
#include "launch/programs.hpp"
#include "results/file.hpp"
#include "results/host_range.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

constexpr double least_stage_s = 1800;  // of a few nodes too
constexpr Tier tiers[] = {Tier::host, Tier::link, Tier::pair, Tier::collective};

std::string name_of_job(Tier tier, int attempt) {
  return attempt == 0 ? to_string(tier) : fmt::format("{}-{}", to_string(tier), attempt + 1);
}

std::vector<std::string> hosts_of(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(finding.subject.host);
  return out;
}

}  // namespace

Pipeline::Pipeline(Setup setup, RunFolder folder, bootstrap::StageOptions staging, Progress& progress)
    : setup_(std::move(setup)), folder_(std::move(folder)), staging_(std::move(staging)), progress_(progress) {
  for (const Node& node : setup_.inventory.nodes) hosts_.push_back(node.name);
}

int Pipeline::run() {
  log::info(fmt::format("run {}: {} nodes, {}; about {} after staging", setup_.job.identity.run, hosts_.size(), fold_hosts(hosts_),
                        duration_text(expected_seconds(setup_.inventory, setup_.job))));
  if (prepare()) {
    stage();
    for (Tier tier : tiers)
      if (!interrupted() && !hosts_.empty()) run_tier(tier);
    clean_up();
  }
  return report_run(folder_, setup_, setup_.suite);
}

bool Pipeline::prepare() {
  auto head = prepare_head(setup_.inventory);
  if (!head) {
    note_unfinished("before staging: " + head.error().what);
    return false;
  }
  head_ = std::move(*head);
  auto written = write_file_atomic(folder_.file("ssh_config"), write_ssh_config(setup_.inventory), 0600);
  if (written) written = write_file_atomic(folder_.file("ssh_to_node"), ssh_script(folder_.file("ssh_config")), 0600);
  if (!written) note_unfinished("before staging: " + written.error().what);
  return static_cast<bool>(written);
}

std::vector<std::size_t> Pipeline::indices(const std::vector<std::string>& hosts) const {
  std::vector<std::size_t> out;
  for (const std::string& host : hosts)
    if (const auto index = setup_.inventory.find(host)) out.push_back(*index);
  return out;
}

void Pipeline::lose(Tier tier, const std::string& host, const Finding& finding) {
  log::warn(fmt::format("{} leaves in tier {}: {}: {}", host, to_string(tier), finding.cause, finding.found));
  if (auto added = folder_.add(statement(setup_, tier, host, finding, 1)); !added) log::error(added.error().what);
  leave(host);
}

void Pipeline::stage() {
  const auto agent = local_program("fabricgate-agent"), rank = local_program("fabricgate-rank");
  for (const auto* program : {&agent, &rank})
    if (!*program) {
      note_unfinished("tier stage: " + program->error().what);
      return hosts_.clear();
    }
  bootstrap::StageOptions options = staging_;
  options.agent_path = *agent;
  options.rank_path = *rank;
  options.run = setup_.job.identity.run;
  options.run_folder = folder_.path();
  options.allow_busy = setup_.job.options.allow_busy;
  const double most_s = std::max(least_stage_s, bootstrap::longest_s(setup_.inventory, hosts_.size(), options));
  options.lease_s = most_s + between_jobs_s;
  options.stop = interrupted;
  const int total = static_cast<int>(hosts_.size());
  std::set<std::size_t> done;  // a node is staged again after its reboot
  progress_.show({.tier = "stage", .done = 0, .total = total});
  auto report = bootstrap::stage_nodes(setup_.inventory, indices(hosts_), options, Deadline::in_seconds(most_s),
                                       [&](const bootstrap::NodeReport& node) {
                                         done.insert(node.node);
                                         progress_.show({.tier = "stage", .done = static_cast<int>(done.size()), .total = total});
                                       });
  progress_.finish();
  if (!report) {
    note_unfinished("tier stage: " + report.error().what);
    return hosts_.clear();
  }
  for (const Record& record : bootstrap::stage_records(*report, setup_.job.identity))
    if (auto added = folder_.add(held_against_limits(setup_, record)); !added) log::error(added.error().what);
  for (const bootstrap::NodeReport& node : report->nodes) {
    if (node.state != bootstrap::NodeState::unreachable) taken_.insert(node.name);
    if (node.state != bootstrap::NodeState::unchanged && node.state != bootstrap::NodeState::changed) leave(node.name);
  }
  if (auto written = write_file_atomic(folder_.file("stage.txt"), bootstrap::to_text(*report, setup_.inventory)); !written) log::error(written.error().what);
  drop_failed(Tier::stage);
}

void Pipeline::run_tier(Tier tier) {
  const std::size_t most = hosts_.size() + 2;
  bool repeated = false;  // though nobody had left
  for (std::size_t attempt = 0; attempt < most && !hosts_.empty() && !interrupted(); ++attempt) {
    const Blame found = run_job(tier, name_of_job(tier, static_cast<int>(attempt)));
    progress_.finish();
    if (found.complete || interrupted()) break;
    if (!found.findings.empty()) {
      log::info(fmt::format("tier {} starts again without {}", to_string(tier), fold_hosts(hosts_of(found.findings))));
      continue;
    }
    if (!found.again || repeated) {
      if (!found.reason.empty()) note_unfinished(fmt::format("tier {}: {}", to_string(tier), found.reason));
      if (found.cut_off) hosts_.clear();
      break;
    }
    repeated = true;
    log::warn(fmt::format("tier {}: {}; it is started once more", to_string(tier), found.reason));
  }
  drop_failed(tier);
}

/// The first of a run is what the rest follows from.
void Pipeline::note_unfinished(const std::string& text) {
  if (!folder_.unfinished().empty()) return;
  log::error(text);
  if (auto noted = folder_.note_unfinished(text); !noted) log::error(noted.error().what);
}

Blame Pipeline::run_job(Tier tier, const std::string& name) {
  Job job = setup_.job;
  job.name = name;
  job.tiers = {tier};
  job.finished = finished_keys();
  job.hosts = hosts_;
  job.deadline_s = job_deadline_s(setup_.inventory, job);
  const auto before = hosts_.size();
  if (auto stopped = upload(job)) return *stopped;
  if (hosts_.size() != before) {  // someone could not take the job file: the others start without it
    job.hosts = hosts_;
    if (hosts_.empty()) return {};
    if (auto stopped = upload(job)) return *stopped;
  }
  auto seen = launch(job);
  if (!seen) return {.reason = seen.error().what};
  fetch();
  Blame found = find_blame(job, std::move(*seen));
  for (const Finding& finding : found.findings) lose(tier, finding.subject.host, finding);
  return found;
}

void Pipeline::drop_failed(Tier tier) {
  suites::GateInput input = gate_input(folder_, setup_, setup_.suite);
  input.through = tier;
  const GateResult result = suites::gate(input, folder_.record_files());
  for (const NodeResult& node : result.nodes)
    if (node.left_in) leave(node.name);
}

std::vector<std::string> Pipeline::finished_keys() const {
  std::set<std::string> keys;
  for (const suites::RecordFile& file : folder_.record_files())
    for_each_line(file.text, [&](std::string_view line) {
      const auto record = record_from_line(line);
      if (record && record->tier == Tier::pair && record->hosts.size() == 2 && !record->sample.is_null()) keys.insert(subject_key(*record));
    });
  return {keys.begin(), keys.end()};
}

}  // namespace fabricgate::launch
