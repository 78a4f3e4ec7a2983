#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "bootstrap/ssh/pool.hpp"
#include "launch/accept/by_hand.hpp"
#include "launch/build_id.hpp"
#include "launch/commands/command.hpp"
#include "launch/commands/stage_flags.hpp"
#include "launch/gate/pipeline.hpp"
#include "launch/mpi/environment.hpp"
#include "launch/programs.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

Result<Setup> setup_of(const ByHand& options, const Inventory& inventory) {
  Job job = job_by_hand(inventory, options.accept);
  // records are made by the rank program that is deployed; its build is the run's
  auto rank = local_program("fabricgate-rank");
  if (!rank) return rank.error();
  auto build = build_id_of(*rank);
  if (!build) return build.error();
  job.identity.build = *build;
  const DemandFiles files{options.limits, options.suite};
  if (auto read = read_demands(files, job); !read) return read.error();
  return make_setup(std::move(job), files);
}

}  // namespace

int run_gate(const std::vector<std::string>& arguments) {
  CLI::App app("Plan, stage, measure and judge: the whole way to a verdict. Exit code 0 ready, 1 not ready, 2 inconclusive. "
               "Started by mpirun on every node it does the same inside the ranks: each stages its own node, rank 0 decides.",
               "fabricgate gate");
  ByHand options{.stage = true};
  StageFlags flags;
  app.add_option("inventory", options.inventory, "inventory file")->required();
  add_runs(app, options.runs);
  add_budget(app, options.accept.budget_s);
  app.add_option("--limits", options.limits, "limits file instead of the built-in one");
  app.add_option("--suite", options.suite, "suite file instead of the built-in one");
  app.add_flag("--allow-busy", options.accept.allow_busy, "stage and measure although a node is in use");
  add_node_timeout(app, flags);
  add_reboot(app, flags);
  if (const auto code = parse_options(app, arguments)) return *code;
  if (auto settled = settle(flags); !settled) return fail(settled.error());
  const auto launched = started_by_mpirun();
  if (!launched) return fail(launched.error());
  if (*launched) {
    const auto head = need_head(app, {"--allow-reboot", "--wave", "--reboot-timeout", "--node-timeout"});
    return head ? run_by_hand(options) : fail(head.error());
  }
  if (auto taken = check_mpirun_path(std::filesystem::absolute(options.runs).lexically_normal()); !taken) return fail(taken.error());
  auto inventory = load_inventory(options.inventory);
  if (!inventory) return fail(inventory.error());
  auto setup = setup_of(options, *inventory);
  if (!setup) return fail(setup.error());
  setup->inventory = std::move(*inventory);  // with paths taken relative to the file
  if (auto login = bootstrap::check_login(setup->inventory); !login) return fail(login.error());
  auto folder = RunFolder::create(options.runs, *setup);
  if (!folder) return fail(folder.error());
  Progress progress(progress_style(STDERR_FILENO));
  bootstrap::StageOptions staging{.reboot = flags.reboot, .node_timeout_s = flags.node_timeout_s};
  return Pipeline(std::move(*setup), std::move(*folder), std::move(staging), progress).run();
}

}  // namespace fabricgate::launch
