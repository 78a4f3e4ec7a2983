#include "bootstrap/stage/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "launch/accept/accept.hpp"
#include "launch/accept/setup.hpp"
#include "launch/build_id.hpp"
#include "launch/commands/command.hpp"
#include "launch/commands/stage_flags.hpp"
#include "launch/accept/share.hpp"
#include "launch/interrupt.hpp"
#include "launch/programs.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

constexpr int usage = static_cast<int>(ExitCode::usage);
constexpr int inconclusive = static_cast<int>(ExitCode::inconclusive);
constexpr double meet_s = 60;

struct Options {
  std::string inventory, nodes, runs = "fabricgate-runs";
  std::vector<std::string> steps;
  bool allow_busy = false, dry_run = false, undo = false;
  StageFlags flags;
};

Result<bootstrap::StageOptions> stage_options(const Options& options) {
  auto agent = local_program("fabricgate-agent");
  if (!agent) return agent.error();
  auto rank = options.undo ? Result<std::string>(std::string()) : local_program("fabricgate-rank");
  if (!rank) return rank.error();
  return bootstrap::StageOptions{.agent_path = std::move(*agent),
                                 .rank_path = std::move(*rank),
                                 .only_steps = options.steps,
                                 .undo = options.undo,
                                 .allow_busy = options.allow_busy,
                                 .reboot = options.flags.reboot,
                                 .node_timeout_s = options.flags.node_timeout_s,
                                 .stop = interrupted};
}

/// The records of this process's nodes, beside their journals.
Status keep(const bootstrap::StageReport& report, const RunIdentity& identity, const std::string& folder, int rank) {
  const std::string name = fmt::format("/stage-{}.jsonl", rank);
  std::string lines;
  for (const Record& record : bootstrap::stage_records(report, identity)) lines += to_line(record) + "\n";
  return write_file_atomic(folder + name, lines);
}

/// What a process did with its share, and within what time every other is done.
struct Done {
  bootstrap::StageReport report;
  double seconds = 0;
  std::string folder = {};  ///< of journals and records; empty for a plan
};

Result<Done> work(const Inventory& inventory, const Options& options, Meeting& meeting) {
  // first, so that a process that cannot go on leaves no other waiting for it
  const auto run = meeting.rendezvous->broadcast(meeting.leads() ? new_run_id() : "", Deadline::in_seconds(meet_s));
  if (!run) return run.error();
  if (options.flags.reboot.allowed && meeting.rendezvous->size() > 1)
    return Error{ErrorKind::parse, "--allow-reboot: a reboot would end ranks; stage from the head, without mpirun", 0};
  auto how = stage_options(options);
  if (!how) return how.error();
  const auto nodes = bootstrap::select_nodes(inventory, options.nodes);
  if (!nodes) return nodes.error();
  how->run = *run;
  how->share_index = meeting.rendezvous->rank();
  how->share_count = meeting.rendezvous->size();
  if (!options.dry_run)
    how->run_folder = std::filesystem::absolute(options.runs).lexically_normal().string() + "/" + *run;
  const double seconds = bootstrap::longest_s(inventory, nodes->size(), *how) + meet_s;
  const auto act = options.dry_run ? bootstrap::plan_nodes : bootstrap::stage_nodes;
  auto report = act(inventory, *nodes, *how, Deadline::in_seconds(seconds), {});
  if (!report) return report.error();
  if (!options.dry_run && !options.undo) {
    const RunIdentity identity{
        .run = *run, .inventory = inventory.checksum, .build = own_build_id(), .suite = inventory.suite};
    if (auto kept = keep(*report, identity, how->run_folder, how->share_index); !kept)
      log::error(kept.error().with("run folder").what);
  }
  return Done{std::move(*report), seconds, how->run_folder};
}

int tell(const Shares& all, const Inventory& inventory, const std::string& folder) {
  fmt::print("{}", bootstrap::to_text(all.report, inventory));
  const ExitCode code = exit_code_of(all.report);
  const bool idle =
      std::all_of(all.report.nodes.begin(), all.report.nodes.end(),
                  [](const bootstrap::NodeReport& node) { return node.state == bootstrap::NodeState::unchanged; });
  if (idle && !all.report.nodes.empty()) fmt::print("nothing to do\n");
  if (!folder.empty()) fmt::print("run folder {}\n", folder);
  std::fflush(stdout);
  for (const int rank : all.lost) log::error(fmt::format("rank {}: its share of the nodes is not known", rank));
  const bool open = code == ExitCode::ready;
  return open && (interrupted() || !all.lost.empty()) ? inconclusive : static_cast<int>(code);
}

/// Rank 0 prints all shares; every rank leaves with the same code and only after all have worked, since a launcher ends
/// all ranks when the first leaves with another code than 0.
int conclude(const Result<Done>& done, const Inventory& inventory, const Options& options, Meeting& meeting) {
  if (!done && meeting.rendezvous->size() == 1)
    return fail(done.error(), done.error().kind == ErrorKind::timeout ? inconclusive : usage);
  if (!done) fail(done.error(), usage);
  const double wait_s = done ? done->seconds : meet_s;
  auto texts = meeting.rendezvous->gather(done ? to_text(done->report.nodes) : "", Deadline::in_seconds(wait_s));
  int code = done ? inconclusive : usage;
  if (meeting.leads() && texts && done) code = tell(join_shares(*texts, options.dry_run), inventory, done->folder);
  auto heard = meeting.rendezvous->broadcast(std::to_string(code), Deadline::in_seconds(wait_s));
  return heard ? std::atoi(heard->c_str()) : inconclusive;
}

constexpr const char* plan_help = "Prints what `stage` would do on each node, as a person would type it. Changes nothing.";
constexpr const char* stage_help =
    "Brings every node to its declared state. A second run changes nothing. Under mpirun the ranks share the nodes.";
constexpr const char* unstage_help =
    "Takes away what `stage` has left on each node: virtual functions, the unit that brings them back, and the files it "
    "wrote. Packages, drivers, programs, NIC firmware and what is set live stay.";

int run(const std::vector<std::string>& arguments, const char* help, const char* name, Options options) {
  CLI::App app(help, name);
  if (options.undo) app.add_flag("--plan", options.dry_run, "print what would be done, and do nothing");
  app.add_option("inventory", options.inventory, "inventory file")->required();
  app.add_option("--nodes", options.nodes, "host ranges, e.g. gpu[001-016]; all when not given");
  app.add_option("--steps", options.steps, "only these steps, e.g. packages,memlock")->delimiter(',');
  app.add_flag("--allow-busy", options.allow_busy, "go on although a node is in use");
  add_node_timeout(app, options.flags);
  if (!options.undo && !options.dry_run) add_reboot(app, options.flags);
  add_runs(app, options.runs);
  if (const auto code = parse_options(app, arguments)) return *code;
  if (auto settled = settle(options.flags); !settled) return fail(settled.error(), usage);
  const auto inventory = load_inventory(options.inventory);
  if (!inventory) return fail(inventory.error(), usage);
  auto meeting = open_meeting(inventory->management);
  if (!meeting) return fail(meeting.error(), inconclusive);
  const int code = conclude(work(*inventory, options, *meeting), *inventory, options, *meeting);
  close_meeting(*meeting, code != inconclusive, code);
  return code;
}

}  // namespace

int run_plan(const std::vector<std::string>& arguments) {
  return run(arguments, plan_help, "fabricgate plan", {.dry_run = true});
}
int run_stage(const std::vector<std::string>& arguments) {
  return run(arguments, stage_help, "fabricgate stage", {});
}
int run_unstage(const std::vector<std::string>& arguments) {
  return run(arguments, unstage_help, "fabricgate unstage", {.undo = true});
}

}  // namespace fabricgate::launch
