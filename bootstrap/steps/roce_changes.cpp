// What is left of a rail's RoCE settings, as a pure function of what was seen.
#include <algorithm>

#include "bootstrap/steps/roce.hpp"

namespace fabricgate::bootstrap {
namespace {

bool has(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::string list_of(const std::vector<int>& numbers) {
  std::string out;
  for (const int number : numbers) out += (out.empty() ? "" : ",") + std::to_string(number);
  return out.empty() ? "none" : out;
}

std::string flags_of(const std::vector<int>& numbers) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += (i == 0 ? "" : ",") + std::string(has(numbers, i) ? "1" : "0");
  return out;
}

class Changes {
 public:
  Changes(const RoceSpec& spec, const SeenRoce& seen) : spec_(spec), seen_(seen) {}

  std::vector<RoceChange> all() {
    const bool untold = !seen_.qos_error.empty();
    if (!spec_.trust.empty() && (untold || spec_.trust != seen_.trust))
      qos("trust " + spec_.trust, seen_.trust, {"--trust", spec_.trust});
    if (spec_.pfc && (untold || *spec_.pfc != seen_.pfc))
      qos("lossless priorities " + list_of(*spec_.pfc), list_of(seen_.pfc), {"--pfc", flags_of(*spec_.pfc)});
    mapping();
    if (spec_.ecn && (!seen_.ecn_files || *spec_.ecn != seen_.ecn_np || *spec_.ecn != seen_.ecn_rp)) ecn();
    if (spec_.traffic_class) marks(*spec_.traffic_class);
    return std::move(out_);
  }

 private:
  void qos(const std::string& wanted, const std::string& found, std::vector<std::string> arguments) {
    RoceChange change{wanted, seen_.qos_error.empty() ? found : "not known", seen_.qos_error, {}};
    arguments.insert(arguments.begin(), {"mlnx_qos", "-i", seen_.netdev});
    if (seen_.qos_error.empty()) change.deeds.push_back({std::move(arguments), "", ""});
    out_.push_back(std::move(change));
  }

  /// Marked traffic that is classed into a priority without PFC is dropped under load like any other. Which of several
  /// lossless priorities is meant nobody said.
  void mapping() {
    if (spec_.trust != "dscp" || !spec_.pfc || spec_.pfc->empty() || !spec_.traffic_class || !seen_.qos_error.empty())
      return;
    const int dscp = *spec_.traffic_class >> 2;
    const auto found = seen_.priorities.find(dscp);
    const int priority =
        found == seen_.priorities.end() ? dscp >> 3 : found->second;  // 8 DSCP each, unless mapped otherwise
    if (has(*spec_.pfc, priority)) return;
    RoceChange change{"DSCP " + std::to_string(dscp) + " in a lossless priority",
                      "priority " + std::to_string(priority),
                      "several priorities are lossless: map it by hand",
                      {}};
    if (spec_.pfc->size() == 1)
      change.deeds.push_back({{"mlnx_qos", "-i", seen_.netdev, "--dscp2prio",
                               "set," + std::to_string(dscp) + "," + std::to_string(spec_.pfc->front())},
                              "",
                              ""});
    out_.push_back(std::move(change));
  }

  void ecn() {
    const std::string found =
        seen_.ecn_files ? list_of(seen_.ecn_np) + " answered, " + list_of(seen_.ecn_rp) + " heeded" : "not known";
    RoceChange change{"ECN on priorities " + list_of(*spec_.ecn),
                      found,
                      "the driver has no /sys/class/net/" + seen_.netdev + "/ecn",
                      {}};
    for (int i = 0; seen_.ecn_files && i < 8; ++i)
      for (const auto& [end, on] : {std::pair("roce_np", &seen_.ecn_np), std::pair("roce_rp", &seen_.ecn_rp)})
        if (has(*spec_.ecn, i) != has(*on, i))
          change.deeds.push_back({{},
                                  "/sys/class/net/" + seen_.netdev + "/ecn/" + end + "/enable/" + std::to_string(i),
                                  has(*spec_.ecn, i) ? "1" : "0"});
    out_.push_back(std::move(change));
  }

  /// Of queue pairs made directly, and of those made through the connection manager.
  void marks(int traffic_class) {
    const std::string value = std::to_string(traffic_class), text = "traffic class " + value;
    if (traffic_class != seen_.traffic_class) {
      RoceChange change{text, number(seen_.traffic_class), "the driver has no file for it: let programs set it", {}};
      if (seen_.traffic_class_file)
        change.deeds.push_back({{}, "/sys/class/infiniband/" + seen_.device + "/tc/1/traffic_class", value});
      out_.push_back(std::move(change));
    }
    const std::string folder = "/sys/kernel/config/rdma_cm/" + seen_.device;
    std::vector<RoceDeed> deeds;
    if (seen_.tos < 0 && seen_.mode.empty()) deeds.push_back({{"mkdir", "-p", folder}, "", ""});
    if (traffic_class != seen_.tos) deeds.push_back({{}, folder + "/ports/1/default_roce_tos", value});
    if (seen_.mode != "RoCE v2") deeds.push_back({{}, folder + "/ports/1/default_roce_mode", "RoCE v2"});
    if (traffic_class == seen_.tos && seen_.mode == "RoCE v2") return;
    const bool possible = seen_.configfs && !seen_.device.empty();
    out_.push_back({text + " and RoCE v2 of the connection manager", number(seen_.tos) + " " + seen_.mode,
                    "no /sys/kernel/config/rdma_cm for it: load rdma_cm and mount configfs",
                    possible ? deeds : std::vector<RoceDeed>{}});
  }

  static std::string number(int value) { return value < 0 ? "none" : std::to_string(value); }

  const RoceSpec& spec_;
  const SeenRoce& seen_;
  std::vector<RoceChange> out_;
};

}  // namespace

std::vector<RoceChange> roce_changes(const RoceSpec& spec, const SeenRoce& seen) {
  return Changes(spec, seen).all();
}

}  // namespace fabricgate::bootstrap
