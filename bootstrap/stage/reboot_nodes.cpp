#include "bootstrap/stage/reboot_nodes.hpp"

#include <poll.h>

#include "bootstrap/ssh/pool.hpp"
#include "bootstrap/stage/hooks.hpp"
#include "inventory/host/process.hpp"
#include "results/log.hpp"

namespace fabricgate::bootstrap {
namespace {

constexpr double order_timeout_s = 60, look_timeout_s = 20;
constexpr int between_looks_ms = 2000;
constexpr const char* boot_id_file = "/proc/sys/kernel/random/boot_id";

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// A connection that ends while the command runs is what a reboot looks like: the boot id will tell.
std::string why_not(const Outcome& outcome) {
  if (!outcome.result) return outcome.connect_s > 0 ? "" : outcome.result.error().what;
  const int code = outcome.result->exit_code;
  if (code == 0 || code == exit_booted_since) return "";
  if (code == exit_is_head) return "it is the machine that leads this stage";
  return "exit code " + std::to_string(code) + ": " + first_line(outcome.result->err);
}

class OverSsh {
 public:
  OverSsh(const StagePlan& plan, std::string head_boot_id, Deadline deadline)
      : plan_(plan), head_boot_id_(std::move(head_boot_id)), deadline_(deadline) {}

  std::map<std::size_t, std::string> order(const std::vector<const NodeReport*>& reports) const {
    std::vector<Job> jobs;
    for (const NodeReport* report : reports) {
      log::info("reboot of " + report->name);
      jobs.push_back({.node = report->node,
                      .argv = reboot_command(boot_id_of(*report), head_boot_id_),
                      .timeout_s = order_timeout_s,
                      .doing = "rebooting"});
    }
    std::map<std::size_t, std::string> out;
    const auto outcomes = run_on_nodes(plan_.inventory, std::move(jobs), deadline_);
    for (const NodeReport* report : reports)
      if (!outcomes) out[report->node] = outcomes.error().what;
    if (!outcomes) return out;
    for (const Outcome& outcome : *outcomes)
      if (const std::string reason = why_not(outcome); !reason.empty()) out[outcome.node] = reason;
    return out;
  }

  std::map<std::size_t, std::string> boot_ids(const std::vector<std::size_t>& nodes) const {
    std::vector<Job> jobs;
    for (const std::size_t node : nodes)
      jobs.push_back({.node = node, .argv = {"cat", boot_id_file}, .timeout_s = look_timeout_s});
    std::map<std::size_t, std::string> out;
    const auto outcomes = run_on_nodes(plan_.inventory, std::move(jobs), deadline_);
    if (!outcomes) return out;
    for (const Outcome& outcome : *outcomes)
      if (outcome.result && outcome.result->exit_code == 0) out[outcome.node] = first_line(outcome.result->out);
    return out;
  }

  bool stop() const { return deadline_.passed() || (plan_.options.stop && plan_.options.stop()); }

 private:
  const StagePlan& plan_;
  std::string head_boot_id_;
  Deadline deadline_;
};

}  // namespace

Status reboot_nodes(const StagePlan& plan, std::vector<NodeReport>& reports, Deadline deadline,
                    const StageAgain& again) {
  const std::string head = own_boot_id();
  if (head.empty())
    return Error{ErrorKind::native, std::string(boot_id_file) + " cannot be read: this machine must not reboot itself", 0};
  const OverSsh ssh(plan, head, deadline);
  const auto stop = [&] { return ssh.stop(); };
  const RebootMeans means{
      .drain = [&](const auto& nodes) { return run_drain_hook(plan.inventory, nodes, deadline, stop); },
      .order = [&](const auto& waiting) { return ssh.order(waiting); },
      .boot_ids = [&](const auto& nodes) { return ssh.boot_ids(nodes); },
      .stage = again,
      .pause = [] { ::poll(nullptr, 0, between_looks_ms); },
      .stop = stop};
  const RebootOptions& options = plan.options.reboot;
  return reboot_in_waves(reports, {.wave = options.wave, .head_boot_id = head, .timeout_s = options.timeout_s}, means);
}

}  // namespace fabricgate::bootstrap
