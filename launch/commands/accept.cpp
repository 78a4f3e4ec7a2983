#include <fmt/format.h>
#include <unistd.h>

#include "launch/accept/accept.hpp"
#include "launch/build_id.hpp"
#include "launch/commands/command.hpp"
#include "launch/commands/options.hpp"
#include "launch/gate/report.hpp"
#include "launch/gate/run_folder.hpp"
#include "launch/interrupt.hpp"
#include "launch/mpi/environment.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

constexpr int usage = static_cast<int>(ExitCode::usage);
constexpr int inconclusive = static_cast<int>(ExitCode::inconclusive);

struct Options {
  std::string inventory, job, runs = "fabricgate-runs", limits, suite;
  AcceptOptions accept;
};

int fail(const Error& error, int code) {
  log::error(error.what);
  return code;
}

/// Leaves a started MPI without leaving the other ranks behind.
int fail(Meeting& meeting, const Error& error, int code) {
  log::error(error.what);
  close_meeting(meeting, false, code);
  return code;
}

std::optional<Cidr> management_of(const std::string& inventory_text) {
  const LoadedInventory loaded = parse_inventory(inventory_text, "inventory");
  return loaded.inventory ? std::optional<Cidr>(loaded.inventory->management) : std::nullopt;
}

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
  auto meeting = open_meeting(setup->inventory.management);
  if (!meeting) return fail(meeting.error(), inconclusive);
  Progress progress(ProgressStyle::events, STDOUT_FILENO);
  const JobEnd end = run_job(*meeting, *setup, progress);
  const bool complete = end.leads ? end.status.state == "complete" : static_cast<bool>(end.served);
  if (!end.leads && !end.served) log::error(end.served.error().what);
  const int code = complete ? 0 : inconclusive;
  close_meeting(*meeting, complete, code);
  return code;
}

Result<Setup> setup_by_hand(Meeting& meeting, const Options& options) {
  auto inventory_text = shared_text(meeting, options.inventory);
  if (!inventory_text) return inventory_text.error();
  std::string job_text;
  if (meeting.leads()) {
    LoadedInventory loaded = parse_inventory(*inventory_text, options.inventory);
    if (loaded.inventory) {
      Job job = job_by_hand(*loaded.inventory, options.accept);
      for (const auto& [path, text] : {std::pair{&options.limits, &job.limits_text}, {&options.suite, &job.suite_text}}) {
        if (path->empty()) continue;
        auto read = read_file(*path);
        if (!read) return read.error();
        *text = std::move(*read);
      }
      job_text = to_text(job);
    } else {
      for (const InventoryProblem& problem : loaded.problems) log::error(to_string(problem));
    }
  }
  auto shared = meeting.rendezvous->broadcast(job_text, Deadline::in_seconds(60));
  if (!shared) return shared.error();
  if (shared->empty()) return Error{ErrorKind::parse, "inventory " + options.inventory + " cannot be used", 0};
  auto job = job_from_text(*shared);
  if (!job) return job.error();
  return make_setup(std::move(*job));
}

/// Rank 0 of a run by hand: run folder, table, exit code.
int conclude(const Setup& setup, const JobStatus& status, const std::string& runs);

int run_by_hand(const Options& options) {
  const auto local_text = read_file(options.inventory);
  auto meeting = open_meeting(local_text ? management_of(*local_text) : std::nullopt);
  if (!meeting) return fail(meeting.error(), inconclusive);
  auto setup = setup_by_hand(*meeting, options);
  if (!setup) {
    const int code = setup.error().kind == ErrorKind::timeout ? inconclusive : usage;
    if (!meeting->leads()) log::set_level(log::Level::error);
    return fail(*meeting, setup.error(), code);
  }
  if (meeting->leads())
    log::info(fmt::format("run {}: {} nodes, about {}", setup->job.identity.run, setup->job.hosts.size(), duration_text(expected_seconds(setup->inventory, setup->job))));
  Progress progress(meeting->leads() ? progress_style(STDERR_FILENO) : ProgressStyle::silent);
  const JobEnd end = run_job(*meeting, *setup, progress);
  if (!end.leads) {
    if (!end.served) log::error(end.served.error().what);
    close_meeting(*meeting, static_cast<bool>(end.served), inconclusive);
    return end.served ? 0 : inconclusive;
  }
  const int code = conclude(*setup, end.status, options.runs);
  close_meeting(*meeting, end.status.state == "complete", code);
  return code;
}

Status keep_records(const RunFolder& folder, const Setup& setup, const JobStatus& status) {
  const std::string name = "records-" + setup.job.name + ".jsonl";
  if (auto made = make_spool(folder.file("spools/head")); !made) return made;
  auto lines = read_file(records_spool(setup.inventory.launcher.spool_dir, setup.job.identity.run, setup.job.name));
  if (lines)
    if (auto written = write_file_atomic(folder.file("spools/head/" + name), *lines); !written) return written;
  for (const Finding& finding : status.findings)
    if (!finding.subject.host.empty())
      if (auto added = folder.add(statement(setup, status.tier, finding.subject.host, finding, 1)); !added) return added;
  return {};
}

int conclude(const Setup& setup, const JobStatus& status, const std::string& runs) {
  auto folder = RunFolder::create(runs, setup);
  if (!folder) return fail(folder.error(), inconclusive);
  if (auto kept = keep_records(*folder, setup, status); !kept) return fail(kept.error().with("run folder"), inconclusive);
  return report_run(*folder, setup, suite_of_tiers(setup.suite, setup.job.tiers));
}

}  // namespace

int run_accept(const std::vector<std::string>& arguments) {
  CLI::App app("Measures host, link, pair and collective tiers. Started by mpirun on every node, one process or more per node.",
               "fabricgate accept");
  Options options;
  app.add_option("inventory", options.inventory, "inventory file; only one rank must be able to read it");
  app.add_option("--job", options.job, "job file written by `fabricgate gate`")->excludes("inventory");
  app.add_option("--runs", options.runs, "folder that run folders are made in (rank 0)")->capture_default_str();
  app.add_option("--budget", options.accept.budget_s, "seconds for the pair tier: fewer rounds; the verdict names the coverage")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--limits", options.limits, "limits file instead of the built-in one (rank 0)");
  app.add_option("--suite", options.suite, "suite file instead of the built-in one (rank 0)");
  app.add_flag("--allow-busy", options.accept.allow_busy, "measure although a node is in use");
  if (const auto code = parse_options(app, arguments)) return *code;
  if (!options.job.empty()) return run_given_job(options.job);
  if (options.inventory.empty()) {
    fmt::print(stderr, "fabricgate accept: an inventory file is needed; see --help\n");
    return usage;
  }
  return run_by_hand(options);
}

}  // namespace fabricgate::launch
