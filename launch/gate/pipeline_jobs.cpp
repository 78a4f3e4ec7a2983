// One mpirun job of the pipeline: job file out, launch, spools back, and who was lost on the way.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "bootstrap/ssh/transfer.hpp"
#include "inventory/host/claim.hpp"
#include "inventory/logs/mpirun_log.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/accept/place.hpp"
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
constexpr double clean_up_s = 30;
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

}  // namespace

std::optional<Blame> Pipeline::upload(const Job& job) {
  const auto content = std::make_shared<const std::string>(to_text(job));
  if (auto written = write_file_atomic(folder_.file("jobs/" + job.name + ".json"), *content, 0600); !written) {
    return Blame{.reason = written.error().what};
  }
  const std::string path = job_path(setup_.inventory.launcher.spool_dir, job.identity.run, job.name);
  std::vector<bootstrap::UploadJob> jobs;
  for (std::size_t node : indices(job.hosts)) jobs.push_back({.node = node, .files = {bootstrap::make_upload(content, path, 0600)}});
  auto outcomes = bootstrap::upload_to_nodes(setup_.inventory, std::move(jobs), Deadline::in_seconds(transfer_s));
  if (!outcomes) {
    return Blame{.reason = outcomes.error().with("job file").what};
  }
  std::vector<const bootstrap::TransferOutcome*> failed;
  for (const bootstrap::TransferOutcome& outcome : *outcomes)
    if (!outcome.status || outcome.finding) failed.push_back(&outcome);
  const auto unanswered = [](const bootstrap::TransferOutcome* outcome) { return outcome->finding && outcome->finding->cause == "ssh.unreachable"; };
  if (failed.size() > 1 && failed.size() == outcomes->size() && std::all_of(failed.begin(), failed.end(), unanswered))
    return nobody_answers(failed.size());
  for (const bootstrap::TransferOutcome* outcome : failed) {
    const std::string& host = setup_.inventory.nodes[outcome->node].name;
    lose(job.tiers.front(), host,
         outcome->finding ? *outcome->finding : make_finding("ssh.unreachable", {.host = host}, "job file uploaded", outcome->status.error().what));
  }
  return {};
}

/// The line that starts the job; its hostfile is written.
Result<std::vector<std::string>> Pipeline::launch_line(const Job& job) {
  const std::string hosts = folder_.file("hostfile-" + job.name);
  std::string lines;
  for (const std::string& host : job.hosts) lines += host + " slots=1\n";
  if (auto written = write_file_atomic(hosts, lines); !written) return written.error();
  const Launcher& launcher = setup_.inventory.launcher;
  if (const auto ports = parse_ports(launcher.ports)) {
    const auto chosen = choose_ports(*ports, port_is_free);
    if (!chosen) return chosen.error();
    if (chosen->count() > 0) launcher_ports_ = *chosen;
  }
  return mpirun_arguments({.version = head_.version,
                           .mpirun = head_.mpirun,
                           .prefix = launcher.mpi_prefix,
                           .hostfile = hosts,
                           .ssh_script = folder_.file("ssh_to_node"),
                           .management = setup_.inventory.management,
                           .ports = launcher.ports,
                           .launcher_ports = launcher_ports_,
                           .as_root = ::geteuid() == 0,
                           .nodes = static_cast<int>(job.hosts.size()),
                           .program = {launcher.install_dir + "/bin/fabricgate-rank", "accept", "--job",
                                       job_path(launcher.spool_dir, job.identity.run, job.name)}});
}

Result<JobEvidence> Pipeline::launch(const Job& job) {
  const auto arguments = launch_line(job);
  if (!arguments) return arguments.error();
  JobLog kept(folder_.file("mpirun-" + job.name + ".log"));
  kept.note("$ " + shell_line(*arguments));
  JobWatch watch(job.hosts, monotonic_s, [&] { return look_at(job); });
  ChildOptions options;
  options.on_err = [&](std::string_view line) {
    if (const auto end = ssh_end_from_line(line); end && end->exit_code == 0) watch.started(end->host);
    kept.keep(line);
  };
  options.on_out = [&](std::string_view line) {
    if (const auto event = progress_from_line(line)) {
      watch.heard();
      return progress_.show(*event);
    }
    if (is_ended_line(line)) watch.ended();
    kept.keep(line);
  };
  options.stop = [&] { return interrupted() || watch.give_up(); };
  auto ended = run_child(*arguments, Deadline::in_seconds(job.deadline_s + launch_s), options);
  if (!ended) return Error{ended.error().kind, ended.error().what + "; " + get_mpirun, ended.error().native};
  if (ended->timed_out) log::warn(fmt::format("job {} did not end in {:.0f} s and was ended", job.name, job.deadline_s + launch_s));
  kept.note(fmt::format("# exit code {}{}", ended->exit_code, ended->timed_out ? ", ended at its deadline" : ""));
  for (const auto& [host, finding] : watch.given_up()) kept.note(fmt::format("# given up: {}: {}", host, finding.found));
  if (ended->signal != 0) end_ranks(job);
  const bool ours = ended->stopped || ended->timed_out;
  return JobEvidence{.hosts = job.hosts,
                     .signal = ours ? 0 : ended->signal,
                     .timed_out = ended->timed_out,
                     .never_began = watch.never_began(),
                     .given_up = watch.given_up(),
                     .nobody_reached = watch.nobody_reached()};
}

/// `argv` on every node of the job, for a look.
Result<std::vector<bootstrap::Outcome>> Pipeline::ask_all(const Job& job, const std::function<std::vector<std::string>(const std::string&)>& argv) const {
  std::vector<bootstrap::Job> jobs;
  for (const std::string& host : job.hosts) jobs.push_back({.node = *setup_.inventory.find(host), .argv = argv(host), .timeout_s = look_s});
  const auto deadline = Deadline::in_seconds(look_s + 0.02 * static_cast<double>(jobs.size()));
  return bootstrap::run_on_nodes(setup_.inventory, std::move(jobs), deadline);
}

/// The pulse of each rank of the job; where none has one, the launcher's daemons.
std::vector<Look> Pipeline::look_at(const Job& job) const {
  const Launcher& launcher = setup_.inventory.launcher;
  std::vector<Look> looks(job.hosts.size());
  const auto pulses = ask_all(job, [&](const std::string& host) {
    return std::vector<std::string>{"sh", "-c", pulse_script, "sh", pulse_path(launcher.spool_dir, job.identity, job.name, host)};
  });
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const auto* result = pulses ? &(*pulses)[i].result : nullptr;
    looks[i].reached = result && *result;
    if (!looks[i].reached) {
      looks[i].why = result ? result->error().what : pulses.error().what;
    } else if (auto pulse = pulse_from_text((*result)->out)) {
      looks[i].pulse = *pulse;
    }
  }
  if (std::none_of(looks.begin(), looks.end(), [](const Look& look) { return look.pulse.has_value(); })) look_for_daemons(job, looks);
  return looks;
}

void Pipeline::look_for_daemons(const Job& job, std::vector<Look>& looks) const {
  std::vector<std::string> argv{"sh", "-c", daemon_script, "sh", job.identity.run};
  for (const Cidr& local : local_addresses())
    if (launcher_ports_.low > 0 && argv.size() == 5 && setup_.inventory.management.contains(local.address))
      argv.insert(argv.end(), {format_ipv4(local.address), std::to_string(launcher_ports_.low)});
  const auto daemons = ask_all(job, [&](const std::string&) { return argv; });
  for (std::size_t i = 0; daemons && i < looks.size(); ++i)
    if ((*daemons)[i].result) looks[i].daemon = daemon_from_text((*daemons)[i].result->out);
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
  gone_.insert(unreachable_.begin(), unreachable_.end());
}

/// Ranks outlive an mpirun that was killed for a while: what they still measure must neither be missed nor meet the next job.
void Pipeline::end_ranks(const Job& job) const {
  std::vector<bootstrap::Job> jobs;
  for (std::size_t node : indices(job.hosts)) jobs.push_back(clean_up_job(node, "/dev/null"));
  auto outcomes = bootstrap::run_on_nodes(setup_.inventory, std::move(jobs), Deadline::in_seconds(clean_up_s));
  if (!outcomes) log::warn(outcomes.error().with("ranks of a job whose launcher was killed").what);
}

/// Ends what the run left on the node and empties the claim where it is the run's.
bootstrap::Job Pipeline::clean_up_job(std::size_t node, const std::string& claim) const {
  const std::string& run = setup_.job.identity.run;
  const std::string notes = process_spool(setup_.inventory.launcher.spool_dir, run);
  return {.node = node, .argv = {"sh", "-c", clean_up_script, "sh", notes, claim, run}, .timeout_s = 20};
}

void Pipeline::clean_up() {
  std::vector<bootstrap::Job> jobs;
  for (std::size_t node = 0; node < setup_.inventory.nodes.size(); ++node) {
    const std::string& name = setup_.inventory.nodes[node].name;
    if (taken_.count(name) && !gone_.count(name)) jobs.push_back(clean_up_job(node, claim_path(setup_.inventory.launcher.spool_dir)));
  }
  if (jobs.empty()) return;
  auto outcomes = bootstrap::run_on_nodes(setup_.inventory, std::move(jobs), Deadline::in_seconds(interrupted() ? 5 : clean_up_s));
  if (!outcomes) log::warn(outcomes.error().with("clean up").what);
}

}  // namespace fabricgate::launch
