#include <fmt/format.h>
#include <unistd.h>

#include "launch/accept/accept.hpp"
#include "launch/accept/by_hand.hpp"
#include "launch/build_id.hpp"
#include "launch/commands/command.hpp"
#include "launch/commands/options.hpp"
#include "launch/mpi/environment.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

constexpr int usage = static_cast<int>(ExitCode::usage);
constexpr int inconclusive = static_cast<int>(ExitCode::inconclusive);

/// The job of a gate: read here, noted here before MPI starts, so that a rank that never gets through is known.
int run_given_job(const std::string& path) {
  auto text = read_file(path);
  if (!text) return fail(text.error(), usage);
  auto job = job_from_text(*text);
  if (!job) return fail(job.error().with(path), usage);
  if (job->identity.build != own_build_id())
    return fail({ErrorKind::parse, path + " is for build " + job->identity.build + ", this is " + own_build_id() + "; stage the node again", 0}, usage);
  auto setup = make_setup(std::move(*job));
  if (!setup) return fail(setup.error().with(path), usage);
  Presence presence = appear(*setup);
  auto meeting = open_meeting(setup->inventory.management);
  if (!meeting) return fail(meeting.error(), inconclusive);
  Progress progress(ProgressStyle::events, STDOUT_FILENO);
  const JobEnd end = run_job(*meeting, *setup, presence, progress);
  const bool complete = end.leads ? end.status.state == "complete" : static_cast<bool>(end.served);
  if (!end.leads && !end.served) log::error(end.served.error().what);
  const int code = complete ? 0 : inconclusive;
  close_meeting(*meeting, complete, code);
  return code;
}

int run_as(const char* name, const std::vector<std::string>& arguments) {
  CLI::App app("Measures host, link, pair and collective tiers. Started by mpirun on every node, one process or more per node.",
               name);
  ByHand options;
  std::string job;
  app.add_option("inventory", options.inventory, "inventory file; only one rank must be able to read it");
  app.add_option("--job", job, "job file written by `fabricgate gate`")->excludes("inventory");
  add_runs(app, options.runs);
  add_budget(app, options.accept.budget_s);
  app.add_option("--limits", options.limits, "limits file instead of the built-in one (rank 0)");
  app.add_option("--suite", options.suite, "suite file instead of the built-in one (rank 0)");
  app.add_flag("--allow-busy", options.accept.allow_busy, "measure although a node is in use");
  if (const auto code = parse_options(app, arguments)) return *code;
  if (!job.empty()) return run_given_job(job);
  if (options.inventory.empty()) {
    fmt::print(stderr, "{}: an inventory file is needed; see --help\n", name);
    return usage;
  }
  const auto launched = started_by_mpirun();
  if (!launched) return fail(launched.error(), usage);
  if (!*launched) {
    fmt::print(stderr,
               "{}: not started by mpirun; start it as `mpirun -hostfile HOSTS -N 1 INSTALL_DIR/bin/fabricgate-rank accept {}` "
               "(`fabricgate inventory hostfile` writes HOSTS; `fabricgate gate` does all of this itself)\n",
               name, options.inventory);
    return usage;
  }
  return run_by_hand(options);
}

}  // namespace

int run_accept(const std::vector<std::string>& arguments) { return run_as("fabricgate accept", arguments); }
int run_rank_accept(const std::vector<std::string>& arguments) { return run_as("fabricgate-rank accept", arguments); }

}  // namespace fabricgate::launch
