// Reads the RoCE settings of one rail: mlnx_qos, the vendor's files in /sys, configfs of the connection manager, GIDs.
#include <algorithm>

#include "bootstrap/steps/roce.hpp"
#include "inventory/logs/mlnx_qos.hpp"
#include "inventory/observe/gid_choice.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using readers::read_attribute;

void see_qos(StepContext& context, SeenRoce& seen) {
  auto shown = context.host.run({"mlnx_qos", "-i", seen.netdev}, context.deadline.at_most(30));
  if (!shown) {
    const bool absent = shown.error().kind == ErrorKind::unavailable;
    seen.qos_error = absent ? "mlnx_qos is not installed" : shown.error().what;
    return;
  }
  const auto settings = parse_mlnx_qos(shown->out + shown->err);
  if (!settings) {
    seen.qos_error = "mlnx_qos: " + settings.error().what;
    return;
  }
  seen.trust = settings->trust;
  seen.pfc = settings->pfc;
  seen.priorities = settings->priorities;
}

void see_ecn(Host& host, SeenRoce& seen) {
  const std::string folder = "/sys/class/net/" + seen.netdev + "/ecn";
  seen.ecn_files = host.exists(folder + "/roce_np/enable/0");
  for (int priority = 0; seen.ecn_files && priority < 8; ++priority) {
    const std::string file = "/enable/" + std::to_string(priority);
    if (read_attribute(host, folder + "/roce_np" + file) == "1") seen.ecn_np.push_back(priority);
    if (read_attribute(host, folder + "/roce_rp" + file) == "1") seen.ecn_rp.push_back(priority);
  }
}

/// "Global tclass=106", or the number alone; nothing where it was never set
int number_in(const std::string& text) {
  const auto first = text.find_first_of("0123456789");
  if (first == std::string::npos) return -1;
  return static_cast<int>(
      readers::to_integer(text.substr(first, text.find_first_not_of("0123456789", first) - first)).value_or(-1));
}

void see_device(Host& host, SeenRoce& seen) {
  if (seen.device.empty()) return;
  const std::string file = "/sys/class/infiniband/" + seen.device + "/tc/1/traffic_class";
  seen.traffic_class_file = host.exists(file);
  seen.traffic_class = number_in(read_attribute(host, file));
  const std::string port = "/sys/kernel/config/rdma_cm/" + seen.device + "/ports/1/";
  seen.configfs = host.exists("/sys/kernel/config/rdma_cm");
  seen.tos = number_in(read_attribute(host, port + "default_roce_tos"));
  seen.mode = read_attribute(host, port + "default_roce_mode");
}

void see_gid(Host& host, const DesiredRail& rail, SeenRoce& seen) {
  const std::string address = format_ipv4(rail.address);
  if (auto all = host.addresses())
    seen.addressed = std::any_of(all->begin(), all->end(), [&](const InterfaceAddress& a) {
      return a.netdev == rail.netdev && a.address == address;
    });
  if (seen.device.empty() || !seen.addressed) return;
  const GidChoice choice =
      choose_gid(read_rdma(host, {seen.device, rail.netdev, rail.pci}).gids, rail.netdev, rail.address);
  seen.gid = choice.index;
  if (const char* cause = cause_of(choice.problem)) seen.gid_cause = cause;
  seen.gid_found = choice.found;
}

std::string device_of(Host& host, const DesiredRail& rail) {
  if (!rail.device.empty()) return rail.device;
  auto names = host.list("/sys/class/net/" + rail.netdev + "/device/infiniband");
  return names && names->size() == 1 ? names->front() : "";
}

}  // namespace

SeenRoce see_roce(StepContext& context, const DesiredRail& rail) {
  SeenRoce seen{.rail = rail.name, .netdev = rail.netdev, .device = device_of(context.host, rail)};
  seen.present = context.host.exists("/sys/class/net/" + rail.netdev);
  if (!seen.present) return seen;
  const auto guarded = protected_interfaces(context.host, context.desired);
  if (const auto found = guarded.find(rail.netdev); found != guarded.end()) seen.guarded = found->second;
  if (!rail.roce.trust.empty() || rail.roce.pfc) see_qos(context, seen);
  see_ecn(context.host, seen);
  see_device(context.host, seen);
  see_gid(context.host, rail, seen);
  return seen;
}

}  // namespace fabricgate::bootstrap
