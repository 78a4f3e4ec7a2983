#include "bootstrap/stage/here.hpp"

#include <unistd.h>

#include "bootstrap/stage/node_stage.hpp"
#include "results/clock.hpp"

namespace fabricgate::bootstrap {
namespace {

struct Place {
  Host& host;
  Deadline deadline;
  const std::function<bool()>& stop;
};

/// One command; one whose input is held hears of `stop`.
Result<CommandResult> run_one(const Command& command, const std::vector<std::string>& words, Place& place) {
  const Deadline deadline = place.deadline.at_most(command.timeout_s);
  static const std::string none;
  const std::string& input = command.input ? *command.input : none;
  return command.hold_input && place.stop ? place.host.run_until(words, deadline, input, place.stop)
                                          : place.host.run(words, deadline, input);
}

Ended converse_here(const Conversation& next, const std::string& node, Place& place) {
  const std::string user = ::geteuid() == 0 ? "root" : "";
  CommandResult last;
  for (auto command = next(nullptr); command; command = next(&last)) {
    auto result = run_one(*command, command_words(*command, user), place);
    if (!result) return {result.error(), std::nullopt, place.stop && place.stop()};
    if (const std::string refusal = user == "root" ? "" : refusal_of_sudo(*result); !refusal.empty())
      return {Error{ErrorKind::denied, refusal, 0},
              make_finding("ssh.sudo_refused", {.host = node}, "sudo -n runs commands without a question", refusal)};
    if (command->sink) {
      if (auto taken = command->sink(result->out); !taken) return {taken, std::nullopt};
      result->out.clear();
    }
    last = std::move(*result);
  }
  return {};
}

}  // namespace

Result<StageReport> stage_here(const Inventory& inventory, std::size_t node, const StageOptions& options, Host& host,
                               Deadline deadline) {
  auto plan = make_stage_plan(inventory, options, false);
  if (!plan) return plan.error();
  plan->inputs_held = static_cast<bool>(options.stop);
  StageReport report{.agent_sha256 = plan->agent_sha256, .rank_sha256 = plan->rank_sha256};
  NodeReport& own = report.nodes.emplace_back();
  own.node = node;
  own.name = inventory.nodes[node].name;
  const double start = unix_now_s();
  NodeStage stage(*plan, own);
  const auto next = [&](const CommandResult* previous) { return stage.next(previous); };
  Place place{host, deadline, options.stop};
  const Ended ended = converse_here(next, own.name, place);
  own.elapsed_s = report.elapsed_s = unix_now_s() - start;
  stage.conclude(ended);
  own.clock_offset_s.reset();
  own.clock_error_s = 0;
  return report;
}

}  // namespace fabricgate::bootstrap
