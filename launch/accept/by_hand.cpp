#include "launch/accept/by_hand.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "launch/accept/accept.hpp"
#include "launch/gate/report.hpp"
#include "launch/gate/run_folder.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

constexpr int usage = static_cast<int>(ExitCode::usage);
constexpr int inconclusive = static_cast<int>(ExitCode::inconclusive);

int fail(const Error& error, int code) {
  log::error(error.what);
  return code;
}

std::optional<Cidr> management_of(const std::string& inventory_text) {
  const LoadedInventory loaded = parse_inventory(inventory_text, "inventory");
  return loaded.inventory ? std::optional<Cidr>(loaded.inventory->management) : std::nullopt;
}

Job job_of(const ByHand& options, const Inventory& inventory) {
  Job job = job_by_hand(inventory, options.accept);
  job.headless = true;
  if (!options.stage) return job;
  job.name = "gate";
  job.tiers.insert(job.tiers.begin(), Tier::stage);
  job.deadline_s = job_deadline_s(inventory, job) + stage_limit_s();
  return job;
}

/// The job as text on rank 0; empty when the inventory cannot be used, which is told here.
Result<std::string> job_text_of(const ByHand& options, const std::string& inventory_text) {
  const LoadedInventory loaded = parse_inventory(inventory_text, options.inventory);
  for (const InventoryProblem& problem : loaded.problems) log::error(to_string(problem));
  if (!loaded.inventory) return std::string();
  Job job = job_of(options, *loaded.inventory);
  if (auto read = read_demands({options.limits, options.suite}, job); !read) return read.error();
  return to_text(job);
}

/// All ranks leave with the same error where rank 0 has one.
Result<Setup> shared_setup(Meeting& meeting, const ByHand& options) {
  auto inventory_text = shared_text(meeting, options.inventory);
  if (!inventory_text) return inventory_text.error();
  Result<std::string> job_text = std::string();
  if (meeting.leads()) job_text = job_text_of(options, *inventory_text);
  auto shared = meeting.rendezvous->broadcast(job_text ? *job_text : "", Deadline::in_seconds(60));
  if (!job_text) return job_text.error();
  if (!shared) return shared.error();
  if (shared->empty())
    return Error{ErrorKind::parse, "inventory " + options.inventory + " cannot be used; rank 0 says why", 0};
  auto job = job_from_text(*shared);
  if (!job) return job.error();
  return make_setup(std::move(*job), {options.limits, options.suite});
}

Status copy_file(const std::string& from, const std::string& to) {
  auto text = read_file(from);
  return text ? write_file_atomic(to, *text) : Status();
}

/// What the stage of this job left in rank 0's spool, where a stage over SSH has it.
Status keep_stage(const RunFolder& folder, const Setup& setup) {
  if (auto made = make_spool(folder.file("journal")); !made) return made;
  for (const Node& node : setup.inventory.nodes) {
    const std::string name = "/journal/" + node.name + ".jsonl";
    if (auto copied = copy_file(setup.spool() + name, folder.path() + name); !copied) return copied;
  }
  return copy_file(setup.spool() + "/stage.txt", folder.file("stage.txt"));
}

/// What is about a node is a record of it, the rest is the run's.
Status keep_findings(const RunFolder& folder, const Setup& setup, const JobStatus& status) {
  for (const Finding& finding : status.findings) {
    const std::string& host = finding.subject.host;
    auto kept = host.empty() ? folder.add(finding) : folder.add(statement(setup, status.tier, host, finding, 1));
    if (!kept) return kept;
  }
  return {};
}

Status keep_records(const RunFolder& folder, const Setup& setup, const JobStatus& status) {
  const std::string name = "records-" + setup.job.name + ".jsonl";
  if (auto made = make_spool(folder.file("spools/head")); !made) return made;
  const std::string spool = records_spool(setup.inventory.launcher.spool_dir, setup.job.identity.run, setup.job.name);
  if (auto copied = copy_file(spool, folder.file("spools/head/" + name)); !copied) return copied;
  return keep_findings(folder, setup, status);
}

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Rank 0: run folder, table, exit code.
int conclude(const ByHand& options, const Setup& setup, const JobStatus& status) {
  auto folder = RunFolder::create(options.runs, setup);
  if (!folder) return fail(folder.error(), inconclusive);
  if (auto kept = keep_records(*folder, setup, status); !kept)
    return fail(kept.error().with("run folder"), inconclusive);
  if (options.stage)
    if (auto kept = keep_stage(*folder, setup); !kept) log::error(kept.error().with("run folder").what);
  return report_run(*folder, setup, options.stage ? setup.suite : suite_of_tiers(setup.suite, setup.job.tiers), own_host());
}

/// Leaves a started MPI without leaving the other ranks behind. Rank 0 alone says what is the same for all.
int give_up(Meeting& meeting, const Error& error) {
  const int code = error.kind == ErrorKind::timeout ? inconclusive : usage;
  if (meeting.leads()) log::error(error.what);
  close_meeting(meeting, false, code);
  return code;
}

}  // namespace

int run_by_hand(const ByHand& options) {
  const auto local_text = read_file(options.inventory, written_by_hand_bytes);
  auto meeting = open_meeting(local_text ? management_of(*local_text) : std::nullopt);
  if (!meeting) return fail(meeting.error(), inconclusive);
  const auto setup = shared_setup(*meeting, options);
  if (!setup) return give_up(*meeting, setup.error());
  if (meeting->leads())
    log::info(fmt::format("run {}: {} nodes, about {}", setup->job.identity.run, setup->job.hosts.size(),
                          duration_text(expected_seconds(setup->inventory, setup->job))));
  Progress progress(meeting->leads() ? progress_style(STDERR_FILENO) : ProgressStyle::silent);
  Presence presence = appear(*setup);
  if (local_text) presence.copy = {options.inventory, sha256_hex(*local_text)};
  const JobEnd end = run_job(*meeting, *setup, presence, progress);
  if (!end.leads) {
    if (!end.served) log::error(end.served.error().what);
    close_meeting(*meeting, static_cast<bool>(end.served), inconclusive);
    return end.served ? 0 : inconclusive;
  }
  const int code = conclude(options, *setup, end.status);
  close_meeting(*meeting, end.status.state == "complete", code);
  return code;
}

}  // namespace fabricgate::launch
