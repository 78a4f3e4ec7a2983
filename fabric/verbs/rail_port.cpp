#include "fabric/verbs/rail_port.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricgate::fabric {

Failed choose_port(Host& host, const RailNames& rail, PortName& name) {
  const RdmaState state = read_rdma(host, rail.names);
  const auto& [device, netdev, pci] = rail.names;
  if (!state.present)
    return VerbsFailure{
        .cause = state.devices.empty() ? "rdma.no_devices" : "rdma.device_absent",
        .what = fmt::format("device {} with a port for {} is not in /sys/class/infiniband, which has: {}", device,
                            netdev, fmt::join(state.devices, ", "))};
  const auto& over = state.netdevs;
  if (!over.empty() && std::find(over.begin(), over.end(), netdev) == over.end())
    return VerbsFailure{
        .cause = "rdma.device_elsewhere",
        .what = fmt::format("device {} is over {}, not over {}", device, fmt::join(over, ", "), netdev)};
  name = {.device = device, .port = state.port.port};
  if (state.port.link_layer != "Ethernet") return std::nullopt;
  const GidChoice choice = choose_gid(state.gids, netdev, rail.address);
  name.gid_index = choice.index;
  if (choice.problem == GidProblem::none) return std::nullopt;
  return VerbsFailure{.cause = cause_of(choice.problem),
                      .what = fmt::format("GID table of device {}, port {}: {}", device, name.port, choice.found)};
}

}  // namespace fabricgate::fabric
