// Whose fault it is that a job ended before its work was done: what the head has of it, and where that does not say,
// what the nodes answer when they are asked.
#include <fmt/format.h>

#include "bootstrap/ssh/pool.hpp"
#include "launch/gate/pipeline.hpp"
#include "launch/interrupt.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

constexpr double ask_s = 20, ask_all_s = 120;

}  // namespace

/// Hosts by their names in the inventory: ssh goes by the address.
MpirunSample Pipeline::read_log(const Job& job) const {
  const auto text = read_file(folder_.file("mpirun-" + job.name + ".log"));
  MpirunSample said = text ? parse_mpirun_log(*text) : MpirunSample{};
  for (MpirunEvent& event : said.events)
    for (const Node& node : setup_.inventory.nodes)
      if (node.address == event.host) event.host = node.name;
  return said;
}

Blame Pipeline::find_blame(const Job& job, JobEvidence seen) {
  const std::string spool_of_first = folder_.spool_of(job.hosts.front());
  seen.interrupted = interrupted();
  seen.unreachable = unreachable_;
  seen.fetched = !fetch_failed_;
  seen.said = read_log(job);
  const auto text = read_file(spool_of_first + "/status-" + job.name + ".json");
  if (const auto status = text ? job_status_from_text(*text) : Result<JobStatus>(text.error())) seen.status = *status;
  if (!seen.fetched && !seen.status)
    log::error(
        fmt::format("job {}: what its ranks wrote could not be brought to {}; nothing is concluded from its absence",
                    job.name, folder_.path()));
  const Blame found = blame(seen);
  if (found.decided() || seen.interrupted || !seen.fetched) return found;
  return ask_nodes(job, seen);
}

/// Rank 0 left no status although every node answers, and nothing says why.
Blame Pipeline::ask_nodes(const Job& job, const JobEvidence& seen) const {
  Blame found{.findings = probe_daemons(job)};
  const std::string& first = job.hosts.front();
  const auto processes = read_file(folder_.spool_of(first) + "/processes.jsonl");
  if (found.decided()) return found;
  if (!seen.never_began.empty())
    found = {.reason = seen.never_began, .again = true};
  else if (processes && processes->find("\"" + job.name + "\"") != std::string::npos)
    found.findings = {make_finding("launch.rank_silent", {.host = first, .rank = 0}, "rank 0 writes how the job ended",
                                   "it wrote nothing")};
  else
    found.reason =
        fmt::format("the job did not start and nothing says why; see {}", folder_.file("mpirun-" + job.name + ".log"));
  return found;
}

/// Asks Open MPI's daemon for its help (orted knows no --version) and our program for its version: both must be there
/// and start.
std::vector<Finding> Pipeline::probe_daemons(const Job& job) const {
  const Launcher& launcher = setup_.inventory.launcher;
  const std::string daemon = launcher.mpi_prefix + "/bin/" + (head_.version.major >= 5 ? "prted" : "orted");
  std::vector<bootstrap::Job> jobs;
  for (std::size_t node : indices(job.hosts)) {
    jobs.push_back({.node = node, .argv = {daemon, head_.version.major >= 5 ? "--version" : "--help"}, .timeout_s = ask_s});
    jobs.push_back(
        {.node = node, .argv = {launcher.install_dir + "/bin/fabricgate-rank", "--version"}, .timeout_s = ask_s});
  }
  std::vector<Finding> broken;
  auto outcomes = bootstrap::run_on_nodes(setup_.inventory, jobs, Deadline::in_seconds(ask_all_s));
  if (!outcomes) return broken;
  for (std::size_t i = 0; i < outcomes->size(); ++i) {
    const bootstrap::Outcome& outcome = (*outcomes)[i];
    const std::string& host = setup_.inventory.nodes[outcome.node].name;
    const bool helps =
        outcome.result && (outcome.result->out + outcome.result->err).find("Open RTE") != std::string::npos;
    if (helps || (outcome.result && outcome.result->exit_code == 0) ||
        (!broken.empty() && broken.back().subject.host == host))
      continue;
    const std::string said = outcome.result ? fmt::format("exit code {}{}{}", outcome.result->exit_code,
                                                          outcome.result->err.empty() ? ", it says nothing" : ": ",
                                                          outcome.result->err.substr(0, 300))
                                            : outcome.result.error().what;
    broken.push_back(
        make_finding("launch.program_missing", {.host = host}, jobs[i].argv[0] + " runs on the node", said));
  }
  return broken;
}

}  // namespace fabricgate::launch
