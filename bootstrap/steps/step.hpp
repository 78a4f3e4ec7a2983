#pragma once
/// One thing about a node: look, say what would be typed, do it, look again. Steps run inside the agent on the node.
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inventory/desired/desired.hpp"
#include "inventory/host/host.hpp"
#include "results/finding.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

/// In a line of a plan: what the step does is lost at the next reboot.
inline constexpr const char* not_kept = "persistence not managed";

/// One line a person could type, and how the agent does the same.
struct Action {
  std::string command;  ///< printed literally by `plan`, e.g. "ip link set dev ens1f0 mtu 9000"
};

struct StepPlan {
  std::vector<Action> actions;    ///< empty: nothing to do
  std::vector<Finding> findings;  ///< what stops it (blocked, fail) or is worth saying
  bool kept = true;               ///< false: some of what is wanted, there already or not, goes with the next reboot
};

struct StepContext {
  const Desired& desired;
  Host& host;
  Deadline deadline;
  std::vector<Finding> findings = {};  ///< filled by `apply` when it fails for a reason of the catalogue
  double lock_wait_s = 120;            ///< for a package manager's lock held by another process
  double settle_s = 30;                ///< for what the kernel does by itself after it was told
  std::function<bool()> stop = {};     ///< true when nobody wants the step any more: looked at in long waits
};

/// Each line, and how it is done: for steps whose plan and apply are one list.
struct Deed {
  Action action;
  std::function<Status(StepContext&)> apply;
};
/// One after the other, up to the first that fails.
Status do_all(StepContext& context, const std::vector<Deed>& deeds);

/// A value, not a class; registered by one line in steps.cpp. `observe` returns what is now (JSON, kept in the
/// journal), `plan` is pure on it, `apply` performs the plan, after which observe + plan must be empty (verify).
struct Step {
  /// packages, driver, modules, kernel_cmdline, rdma_namespace, firmware, sysctl, memlock, sriov, network, roce, persist
  const char* id;
  Result<nlohmann::json> (*observe)(StepContext& context);
  StepPlan (*plan)(const Desired& desired, const nlohmann::json& observed);
  Status (*apply)(StepContext& context, const nlohmann::json& observed);
  const Step* undo = nullptr;  ///< the same for what the step has left on the node; null: it stays
};

/// In the order they are applied.
const std::vector<Step>& steps();

}  // namespace fabricgate::bootstrap
