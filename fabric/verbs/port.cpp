#include "fabric/verbs/port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fabric/verbs/returns.hpp"
#include "results/file.hpp"

namespace fabricgate::fabric {
namespace {

struct DeviceList {
  Handle<ibv_device*, ibv_free_device_list> devices;
  int count = 0;
};

Failed read_devices(DeviceList& list) {
  errno = 0;
  list.devices.reset(ibv_get_device_list(&list.count));
  if (auto failed = check_pointer(VerbsCall::get_device_list, "this host", list.devices.get())) return failed;
  if (list.count == 0) return call_failure(VerbsCall::get_device_list, "this host", ENODEV);
  return std::nullopt;
}

int numa_node_of(const ibv_device& device) {
  const auto text = read_file(fmt::format("{}/device/numa_node", device.ibdev_path), 64);
  return text ? std::atoi(text->c_str()) : -1;
}

const char* state_text(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "DOWN";
    case IBV_PORT_INIT:
      return "INIT";
    case IBV_PORT_ARMED:
      return "ARMED";
    case IBV_PORT_ACTIVE:
      return "ACTIVE";
    case IBV_PORT_ACTIVE_DEFER:
      return "ACTIVE_DEFER";
    default:
      return "NOP";
  }
}

/// The state names the subnet manager's part in it.
std::string_view state_cause(const Port& port) {
  if (port.attributes.state == IBV_PORT_ARMED) return "link.state_armed";
  return port.attributes.state == IBV_PORT_INIT && !port.ethernet() ? "link.no_subnet_manager" : "link.down";
}

Failed read_gid(Port& port) {
  const std::string object = fmt::format("{}, GID index {}", port.text(), port.name.gid_index);
  if (port.name.gid_index < 0) {
    if (!port.ethernet()) return std::nullopt;
    return call_failure(VerbsCall::query_gid, object + " (an Ethernet port needs one)", EINVAL);
  }
  errno = 0;
  const int returned =
      ibv_query_gid(port.context.get(), static_cast<std::uint8_t>(port.name.port), port.name.gid_index, &port.gid);
  if (auto failed = check_minus_one(VerbsCall::query_gid, object, returned)) return failed;
  const auto* raw = port.gid.raw;
  if (std::all_of(raw, raw + sizeof port.gid.raw, [](std::uint8_t byte) { return byte == 0; }))
    return call_failure(VerbsCall::query_gid, object + " (the entry is empty)", ENOENT);
  return std::nullopt;
}

}  // namespace

std::string Port::text() const {
  return fmt::format("device {}, port {}", name.device, name.port);
}

Failed list_devices(std::vector<std::string>& names) {
  DeviceList list;
  if (auto failed = read_devices(list)) return failed;
  for (int i = 0; i < list.count; ++i) names.emplace_back(ibv_get_device_name(list.devices.get()[i]));
  return std::nullopt;
}

Failed open_port(const PortName& name, Port& port) {
  port.name = name;
  DeviceList list;
  if (auto failed = read_devices(list)) return failed;
  ibv_device** const end = list.devices.get() + list.count;
  ibv_device** const found =
      std::find_if(list.devices.get(), end, [&](ibv_device* one) { return name.device == ibv_get_device_name(one); });
  if (found == end) return call_failure(VerbsCall::open_device, fmt::format("device {}", name.device), ENODEV);
  port.numa_node = numa_node_of(**found);
  errno = 0;
  port.context.reset(ibv_open_device(*found));
  if (auto failed = check_pointer(VerbsCall::open_device, port.text(), port.context.get())) return failed;
  if (auto failed =
          check_errno_result(VerbsCall::query_device, port.text(), ibv_query_device(port.context.get(), &port.device)))
    return failed;
  const int returned = ibv_query_port(port.context.get(), static_cast<std::uint8_t>(name.port), &port.attributes);
  if (auto failed = check_errno_result(VerbsCall::query_port, port.text(), returned)) return failed;
  if (port.attributes.state != IBV_PORT_ACTIVE)
    return VerbsFailure{
        .cause = std::string(state_cause(port)),
        .what = fmt::format("{}: state is {}, not ACTIVE", port.text(), state_text(port.attributes.state)),
        .native = static_cast<int>(port.attributes.state)};
  return read_gid(port);
}

std::string gid_text(const ibv_gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < sizeof gid.raw; i += 2)
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.raw[i], gid.raw[i + 1]);
  return text;
}

Result<ibv_gid> parse_gid_text(const std::string& text) {
  ibv_gid gid{};
  unsigned group[8];
  int used = 0;
  const int read = std::sscanf(text.c_str(), "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x%n", group, group + 1, group + 2,
                               group + 3, group + 4, group + 5, group + 6, group + 7, &used);
  if (read != 8 || text.size() != 39 || used != 39)
    return Error{ErrorKind::parse, fmt::format("GID '{}': expected eight groups of four digits", text)};
  for (std::size_t i = 0; i < 8; ++i) {
    gid.raw[2 * i] = static_cast<std::uint8_t>(group[i] >> 8);
    gid.raw[2 * i + 1] = static_cast<std::uint8_t>(group[i] & 0xff);
  }
  return gid;
}

std::uint64_t mtu_bytes(ibv_mtu mtu) {
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? std::uint64_t{128} << mtu : 0;
}

const char* link_layer_text(const ibv_port_attr& attributes) {
  return attributes.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
}

}  // namespace fabricgate::fabric
