// One mpirun job of the pipeline: job file out, launch, spools back, and who was lost on the way.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "bootstrap/ssh/transfer.hpp"
#include "inventory/host/claim.hpp"
#include "inventory/logs/mpirun_log.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/child.hpp"
#include "launch/gate/clean_up.hpp"
#include "launch/gate/pipeline.hpp"
#include "launch/interrupt.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

/// From mpirun's start until all ranks have begun, and from the end of the job until mpirun is gone.
constexpr double launch_s = 60, transfer_s = 120;
/// For one look at the pulses of a job that fell silent.
constexpr double look_s = 5;
/// What of mpirun's output is kept: a program that writes without end must not fill the disk of the head.
constexpr std::size_t log_bytes = std::size_t{64} << 20;

class JobLog {
 public:
  explicit JobLog(std::string path) : path_(std::move(path)) {}

  void note(std::string_view line) const {
    if (auto noted = append_line(path_, line, false); !noted) log::error(noted.error().what);
  }
  /// A line of mpirun, as long as there is room.
  void keep(std::string_view line) {
    if (kept_ > log_bytes) return;
    kept_ += line.size() + 1;
    note(kept_ > log_bytes ? "# more was said and is left out" : line);
  }

 private:
  std::string path_;
  std::size_t kept_ = 0;
};

double monotonic_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Finding finding_of(const MpirunEvent& event, const std::string& host) {
  switch (event.kind) {
    case MpirunEventKind::program_missing:
      return make_finding("launch.program_missing", {.host = host}, "the program and its libraries on the node", event.text);
    case MpirunEventKind::ssh_key_unknown: return make_finding("ssh.host_key_unknown", {.host = host}, "a known host key", event.text);
    case MpirunEventKind::ssh_key_changed: return make_finding("ssh.host_key_changed", {.host = host}, "the known host key", event.text);
    case MpirunEventKind::ssh_denied: return make_finding("ssh.permission_denied", {.host = host}, "login by key", event.text);
    case MpirunEventKind::ssh_unreachable: return make_finding("ssh.unreachable", {.host = host}, "an SSH connection", event.text);
    default: return make_finding("launch.daemon_lost", {.host = host}, "a rank that lives until the end of its job", event.text);
  }
}

}  // namespace

bool Pipeline::upload(const Job& job) {
  const auto content = std::make_shared<const std::string>(to_text(job));
  if (auto written = write_file_atomic(folder_.file("jobs/" + job.name + ".json"), *content, 0600); !written) {
    log::error(written.error().what);
    return false;
  }
  const std::string path = job_path(setup_.inventory.launcher.spool_dir, job.identity.run, job.name);
  std::vector<bootstrap::UploadJob> jobs;
  for (std::size_t node : indices(job.hosts)) jobs.push_back({.node = node, .files = {bootstrap::make_upload(content, path, 0600)}});
  auto outcomes = bootstrap::upload_to_nodes(setup_.inventory, std::move(jobs), Deadline::in_seconds(transfer_s));
  if (!outcomes) {
    log::error(outcomes.error().with("job file").what);
    return false;
  }
  for (const bootstrap::TransferOutcome& outcome : *outcomes) {
    if (outcome.status && !outcome.finding) continue;
    const std::string& host = setup_.inventory.nodes[outcome.node].name;
    lose(job.tiers.front(), host,
         outcome.finding ? *outcome.finding : make_finding("ssh.unreachable", {.host = host}, "job file uploaded", outcome.status.error().what));
  }
  return true;
}

void Pipeline::launch(const Job& job) {
  const std::string hosts = folder_.file("hostfile-" + job.name);
  std::string lines;
  for (const std::string& host : job.hosts) lines += host + " slots=1\n";
  if (auto written = write_file_atomic(hosts, lines); !written) return log::error(written.error().what);
  const Launcher& launcher = setup_.inventory.launcher;
  const MpirunJob mpirun{.version = version_,
                         .mpirun = mpirun_,
                         .prefix = launcher.mpi_prefix,
                         .hostfile = hosts,
                         .ssh_config = folder_.file("ssh_config"),
                         .management = setup_.inventory.management,
                         .ports = launcher.ports,
                         .as_root = ::geteuid() == 0,
                         .nodes = static_cast<int>(job.hosts.size()),
                         .program = {launcher.install_dir + "/bin/fabricgate-rank", "accept", "--job",
                                     job_path(launcher.spool_dir, job.identity.run, job.name)}};
  const auto arguments = mpirun_arguments(mpirun);
  JobLog kept(folder_.file("mpirun-" + job.name + ".log"));
  kept.note("$ " + shell_line(arguments));
  JobWatch watch(job.hosts, monotonic_s, [&] { return look_at(job); });
  ChildOptions options;
  options.on_err = [&](std::string_view line) { kept.keep(line); };
  options.on_out = [&](std::string_view line) {
    if (const auto event = progress_from_line(line)) {
      watch.heard();
      return progress_.show(*event);
    }
    if (is_ended_line(line)) watch.ended();
    kept.keep(line);
  };
  options.stop = [&] { return interrupted() || watch.give_up(); };
  auto ended = run_child(arguments, Deadline::in_seconds(job.deadline_s + launch_s), options);
  if (!ended) return log::error(ended.error().with("mpirun").what);
  if (ended->timed_out) log::warn(fmt::format("job {} did not end in {:.0f} s and was ended", job.name, job.deadline_s + launch_s));
  kept.note(fmt::format("# exit code {}{}", ended->exit_code, ended->timed_out ? ", ended at its deadline" : ""));
  silent_ = watch.silent();
  never_began_ = watch.never_began();
  for (const auto& [host, why] : silent_) kept.note(fmt::format("# given up: {}: {}", host, why));
}

/// The pulse of each rank of the job.
std::vector<Look> Pipeline::look_at(const Job& job) const {
  std::vector<bootstrap::Job> jobs;
  std::vector<Look> looks(job.hosts.size());
  for (const std::string& host : job.hosts)
    jobs.push_back({.node = *setup_.inventory.find(host),
                    .argv = {"sh", "-c", pulse_script, "sh", pulse_path(setup_.inventory.launcher.spool_dir, job.identity, job.name, host)},
                    .timeout_s = look_s});
  const auto outcomes = bootstrap::run_on_nodes(setup_.inventory, std::move(jobs), Deadline::in_seconds(look_s + 0.02 * static_cast<double>(looks.size())));
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const auto* result = outcomes ? &(*outcomes)[i].result : nullptr;
    looks[i].reached = result && *result;
    if (!looks[i].reached) {
      looks[i].why = result ? result->error().what : outcomes.error().what;
    } else if (auto pulse = pulse_from_text((*result)->out)) {
      looks[i].pulse = *pulse;
    }
  }
  return looks;
}

void Pipeline::fetch() {
  std::vector<bootstrap::FetchJob> jobs;
  for (std::size_t node : indices(hosts_))
    jobs.push_back({.node = node, .remote_folder = spool(), .local_folder = folder_.spool_of(setup_.inventory.nodes[node].name)});
  unreachable_.clear();
  fetch_failed_ = true;
  auto outcomes = bootstrap::fetch_from_nodes(setup_.inventory, std::move(jobs), Deadline::in_seconds(transfer_s));
  if (!outcomes) return log::error(outcomes.error().with("spools").what);
  fetch_failed_ = false;
  for (const bootstrap::TransferOutcome& outcome : *outcomes) {
    if (outcome.status) continue;
    const std::string& host = setup_.inventory.nodes[outcome.node].name;
    log::warn(fmt::format("spool of {} could not be fetched: {}", host, outcome.status.error().what));
    if (outcome.finding)
      unreachable_.insert(host);
    else
      fetch_failed_ = true;
  }
}

std::set<std::string> Pipeline::find_lost(Tier tier, const Job& job, bool& complete) {
  std::set<std::string> lost;
  const auto out = [&](const std::string& host, const Finding& finding) {
    if (lost.insert(host).second) lose(tier, host, finding);
  };
  const std::set<std::string> gone = unreachable_;
  for (const std::string& host : gone)
    out(host, make_finding("launch.daemon_lost", {.host = host}, "a node that lives until the end of its job", "the node no longer answers over SSH"));
  for (const auto& [host, why] : silent_)
    out(host, make_finding("launch.rank_silent", {.host = host}, "a process that lives until the end of its job", why));
  const auto text = read_file(folder_.spool_of(job.hosts.front()) + "/status-" + job.name + ".json");
  const auto status = text ? job_status_from_text(*text) : Result<JobStatus>(text.error());
  if (status) {
    complete = status->state == "complete" && lost.empty();
    for (const Finding& finding : status->findings)
      if (!finding.subject.host.empty()) out(finding.subject.host, finding);
    if (!complete && lost.empty()) log::error(fmt::format("job {} ended '{}'", job.name, status->state));
    return lost;
  }
  if (fetch_failed_) log::error(fmt::format("job {}: what its ranks wrote could not be brought to {}; nothing is concluded from its absence", job.name, folder_.path()));
  if (!lost.empty() || interrupted() || fetch_failed_) return lost;
  return blame_launch(tier, job);
}

/// Rank 0 left no status although every node answers.
std::set<std::string> Pipeline::blame_launch(Tier tier, const Job& job) {
  const auto log_text = read_file(folder_.file("mpirun-" + job.name + ".log"));
  if (log_text) {
    for (const MpirunEvent& event : parse_mpirun_log(*log_text).events) {
      std::string host = event.host;
      for (const Node& node : setup_.inventory.nodes)
        if (node.address == host) host = node.name;
      if (event.kind == MpirunEventKind::rank_ended || std::find(job.hosts.begin(), job.hosts.end(), host) == job.hosts.end()) continue;
      lose(tier, host, finding_of(event, host));
      return {host};
    }
  }
  const auto broken = probe_daemons(tier, job);
  if (!broken.empty()) return broken;
  const std::string& first = job.hosts.front();
  const auto processes = read_file(folder_.spool_of(first) + "/processes.jsonl");
  if (!processes || processes->find("\"" + job.name + "\"") == std::string::npos) {
    log::error(fmt::format("job {} did not start and nothing says why; see {}", job.name, folder_.file("mpirun-" + job.name + ".log")));
    return {};
  }
  lose(tier, first, make_finding("launch.rank_silent", {.host = first, .rank = 0}, "rank 0 writes how the job ended", "it wrote nothing"));
  return {first};
}

/// Asks Open MPI's daemon for its help (orted knows no --version) and our program for its version: both must be there and start.
std::set<std::string> Pipeline::probe_daemons(Tier tier, const Job& job) {
  const std::string& prefix = setup_.inventory.launcher.mpi_prefix;
  const std::string daemon = prefix + "/bin/" + (version_.major >= 5 ? "prted" : "orted");
  std::vector<bootstrap::Job> jobs;
  for (std::size_t node : indices(job.hosts)) {
    jobs.push_back({.node = node, .argv = {daemon, version_.major >= 5 ? "--version" : "--help"}, .timeout_s = 20});
    jobs.push_back({.node = node, .argv = {setup_.inventory.launcher.install_dir + "/bin/fabricgate-rank", "--version"}, .timeout_s = 20});
  }
  std::set<std::string> broken;
  auto outcomes = bootstrap::run_on_nodes(setup_.inventory, jobs, Deadline::in_seconds(transfer_s));
  if (!outcomes) return broken;
  for (std::size_t i = 0; i < outcomes->size(); ++i) {
    const bootstrap::Outcome& outcome = (*outcomes)[i];
    const std::string& host = setup_.inventory.nodes[outcome.node].name;
    const bool helps = outcome.result && (outcome.result->out + outcome.result->err).find("Open RTE") != std::string::npos;
    if (helps || (outcome.result && outcome.result->exit_code == 0) || broken.count(host)) continue;
    const std::string said = outcome.result ? fmt::format("exit code {}{}{}", outcome.result->exit_code, outcome.result->err.empty() ? ", it says nothing" : ": ",
                                                          outcome.result->err.substr(0, 300))
                                            : outcome.result.error().what;
    lose(tier, host, make_finding("launch.program_missing", {.host = host}, jobs[i].argv[0] + " runs on the node", said));
    broken.insert(host);
  }
  return broken;
}

void Pipeline::clean_up() {
  const std::string& spool_dir = setup_.inventory.launcher.spool_dir;
  const std::string& run = setup_.job.identity.run;
  std::vector<bootstrap::Job> jobs;
  for (std::size_t node = 0; node < setup_.inventory.nodes.size(); ++node) {
    const std::string& name = setup_.inventory.nodes[node].name;
    if (taken_.count(name) && !unreachable_.count(name))
      jobs.push_back({.node = node,
                      .argv = {"sh", "-c", clean_up_script, "sh", process_spool(spool_dir, run), claim_path(spool_dir), run},
                      .timeout_s = 20});
  }
  if (jobs.empty()) return;
  auto outcomes = bootstrap::run_on_nodes(setup_.inventory, std::move(jobs), Deadline::in_seconds(interrupted() ? 5 : 30));
  if (!outcomes) log::warn(outcomes.error().with("clean up").what);
}

}  // namespace fabricgate::launch
