#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "bootstrap/steps/virtual_functions.hpp"

namespace fabricgate::bootstrap {
namespace {

/// Brings the function of one rail to its state.
class Worker {
 public:
  Worker(StepContext& context, const DesiredRail& rail, SeenFunction seen)
      : context_(context), rail_(rail), seen_(std::move(seen)), autoprobe_(seen_.autoprobe) {}

  Status work() {
    for (const Phase phase : {Phase::count, Phase::administer}) {
      for (const Operation& operation : of(phase))
        if (auto status = perform(operation); !status && phase == Phase::count) return refused(operation, status);
      made_ = made_ || (phase == Phase::count && !of(phase).empty());
      look();
      if (phase == Phase::count && seen_.count != wanted_of(rail_)) return ignored();
    }
    const Status bound = wanted_of(rail_) > 0 ? settle() : Status();
    return first_ ? bound : first_;
  }

 private:
  void look() {
    seen_ = see_function(context_, rail_);
    if (!made_) see_users(context_.host, seen_);
  }

  std::vector<Operation> of(Phase phase) const {
    auto out = operations(context_.desired, rail_, seen_);
    std::erase_if(out, [&](const Operation& operation) { return operation.phase != phase; });
    return out;
  }

  Status perform(const Operation& operation) {
    if (const auto log = context_.host.kernel_log(next_message_); log && !log->empty())
      next_message_ = log->back().sequence + 1;
    const Status status = operation.arguments.empty() ? context_.host.write_in_place(operation.path, operation.value)
                                                      : run_checked(context_, operation.arguments, 30);
    if (!status && operation.identity)
      context_.findings.push_back(
          make_finding("vf.guid_not_effective",
                       subject_of(context_.desired, seen_, seen_.vfs[static_cast<std::size_t>(operation.vf)]),
                       operation.value.empty() ? operation.arguments.back() : operation.value, status.error().what));
    if (!status && operation.phase == Phase::administer && first_) first_ = status;
    return status;
  }

  std::vector<KernelMessage> messages() {
    const auto log = context_.host.kernel_log(next_message_);
    return log ? *log : std::vector<KernelMessage>{};
  }

  Status refused(const Operation& operation, const Status& status) {
    const auto log = messages();
    restore();
    look();
    if (operation.arguments.empty()) {
      const int wanted = std::atoi(operation.value.c_str());
      context_.findings.push_back(
          explain_refusal(subject_of(context_.desired, seen_), seen_, wanted, status.error(), log));
    } else if (seen_.count > 0) {
      context_.findings.push_back(make_finding("vf.switchdev_order", subject_of(context_.desired, seen_),
                                               "mode " + context_.desired.eswitch, status.error().what));
    }
    return status;
  }

  /// For VFs that somebody makes by hand after we failed.
  void restore() {
    if (autoprobe_ == 1)
      (void)context_.host.write_in_place("/sys/bus/pci/devices/" + seen_.pci + "/sriov_drivers_autoprobe", "1");
  }

  Status ignored() {
    restore();
    context_.findings.push_back(make_finding("vf.count_mismatch", subject_of(context_.desired, seen_),
                                             vfs_text(wanted_of(rail_)), vfs_text(std::max(0, seen_.count))));
    return Error{ErrorKind::native, "the count of VFs is another than was written", 0};
  }

  /// Drivers are bound, interfaces come and are named by udev, and a PF that was reset by the new count answers its VFs
  /// only after a while: a VF that took another identity meanwhile is bound once more.
  Status settle() {
    const Deadline settled = context_.deadline.at_most(context_.settle_s);
    std::string before;
    for (;;) {
      auto todo = of(Phase::bind);
      if (todo.empty()) todo = of(Phase::interface);
      if (todo.empty() && !comes()) return {};
      std::string lines;
      for (const Operation& operation : todo) lines += shell_line(operation) + "\n";
      if (lines == before && settled.passed()) return unsettled();
      if (lines == before) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      before = lines;
      failed_ = Status();
      for (const Operation& operation : todo)
        if (auto status = perform(operation); !status && failed_) failed_ = status;
      look();
    }
  }

  bool without_device(const SeenVf& vf) const {
    const bool device = rail_.link_layer == LinkLayer::infiniband ? !vf.device.empty() : vf.made_interface;
    return rail_.vf.bind && !handed_on(vf) && (vf.driver.empty() || !device);
  }

  bool comes() const {
    return std::any_of(seen_.vfs.begin(), seen_.vfs.end(), [&](const SeenVf& vf) { return without_device(vf); });
  }

  Status unsettled() {
    for (const SeenVf& vf : seen_.vfs) {
      if (without_device(vf))
        context_.findings.push_back(make_finding("vf.unusable", subject_of(context_.desired, seen_, vf),
                                                 "a driver and its device",
                                                 vf.driver.empty() ? "no driver" : vf.driver + " without a device"));
      else if (other_identity(rail_, vf))
        context_.findings.push_back(not_effective(context_.desired, rail_, seen_, vf));
    }
    return failed_ ? Error{ErrorKind::native, "VFs of " + seen_.netdev + " do not become what was told", 0} : failed_;
  }

  StepContext& context_;
  const DesiredRail& rail_;
  SeenFunction seen_;
  const int autoprobe_;  ///< as it was found
  bool made_ = false;    ///< the VFs are new: nobody has a right to them yet
  Status first_, failed_;
  std::uint64_t next_message_ = 0;
};

}  // namespace

Status make_virtual_functions(StepContext& context, const DesiredRail& rail, const SeenFunction& seen) {
  return Worker(context, rail, seen).work();
}

}  // namespace fabricgate::bootstrap
