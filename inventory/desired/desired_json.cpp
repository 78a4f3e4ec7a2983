#include "inventory/desired/desired.hpp"

#include "results/json_text.hpp"

namespace fabricgate {
namespace {

using Json = nlohmann::json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json to_json_value(const VfSpec& vf) {
  return {{"trust", or_null(vf.trust)},
          {"spoofchk", or_null(vf.spoofchk)},
          {"vlan", or_null(vf.vlan)},
          {"max_rate_mbps", or_null(vf.max_rate_mbps)},
          {"mtu", vf.mtu},
          {"link_policy", vf.link_policy ? Json(to_string(*vf.link_policy)) : Json()},
          {"bind", vf.bind}};
}

Json to_json_value(const RoceSpec& roce) {
  return {{"trust", roce.trust},
          {"pfc", or_null(roce.pfc)},
          {"ecn", or_null(roce.ecn)},
          {"traffic_class", or_null(roce.traffic_class)}};
}

Json to_json_value(const DesiredRail& rail) {
  return {{"name", rail.name},
          {"netdev", rail.netdev},
          {"device", rail.device},
          {"pci", rail.pci},
          {"address", format_ipv4(rail.address)},
          {"prefix", rail.prefix},
          {"mtu", rail.mtu},
          {"rate_bits_per_s", rail.rate_bits_per_s},
          {"link_layer", to_string(rail.link_layer)},
          {"vf", to_json_value(rail.vf)},
          {"vfs", rail.vfs},
          {"first_vf_guid", rail.first_vf_guid},
          {"roce", to_json_value(rail.roce)}};
}

Json to_json_value(const Manage& manage) {
  return {{"packages", manage.packages},
          {"memlock", manage.memlock},
          {"sysctl", manage.sysctl},
          {"modules", manage.modules},
          {"network", manage.network},
          {"persist", manage.persist}};
}

Json to_json_value(const DriverSpec& driver) {
  return {{"owner", to_string(driver.owner)},
          {"source", driver.source},
          {"version", driver.version},
          {"bundle", driver.bundle},
          {"sha256", driver.sha256},
          {"repository", driver.repository},
          {"repository_key", driver.repository_key},
          {"flags", driver.flags},
          {"packages", driver.packages},
          {"reload", to_string(driver.reload)}};
}

/// Thrown inside this file only: values of the right JSON type that mean nothing.
struct BadValue {
  std::string what;
};

template <class T>
T valid(Result<T> result) {
  if (!result) throw BadValue{result.error().what};
  return *std::move(result);
}

int integer(const Json& object, const char* key, int low, int high) {
  const auto& value = object.at(key);
  if (!value.is_number_integer()) throw BadValue{std::string(key) + ": expected an integer"};
  const auto number = value.get<std::int64_t>();
  if (number < low || number > high)
    throw BadValue{std::string(key) + ": " + std::to_string(number) + " is out of range"};
  return static_cast<int>(number);
}

Owner owner(const Json& value) {
  const auto found = parse_owner(value.get<std::string>());
  if (!found) throw BadValue{"owner: '" + value.get<std::string>() + "' is none of none, host, operator"};
  return *found;
}

std::optional<bool> switch_from(const Json& object, const char* key) {
  const auto& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional<bool>(value.get<bool>());
}

std::optional<int> number_from(const Json& object, const char* key, int high) {
  return object.at(key).is_null() ? std::nullopt : std::optional<int>(integer(object, key, 0, high));
}

std::optional<LinkPolicy> policy_from(const Json& value) {
  if (value.is_null()) return std::nullopt;
  const auto found = parse_link_policy(value.get<std::string>());
  if (!found) throw BadValue{"link_policy: expected follow, up or down"};
  return found;
}

VfSpec vf_from(const Json& value) {
  return {.trust = switch_from(value, "trust"),
          .spoofchk = switch_from(value, "spoofchk"),
          .vlan = number_from(value, "vlan", 4094),
          .max_rate_mbps = number_from(value, "max_rate_mbps", 10'000'000),
          .mtu = integer(value, "mtu", 0, 65536),
          .link_policy = policy_from(value.at("link_policy")),
          .bind = value.at("bind")};
}

std::optional<std::vector<int>> priorities_from(const Json& value) {
  if (value.is_null()) return std::nullopt;
  std::vector<int> out;
  for (const Json& priority : value) out.push_back(integer({{"priority", priority}}, "priority", 0, 7));
  return out;
}

RoceSpec roce_from(const Json& value) {
  return {.trust = value.at("trust"),
          .pfc = priorities_from(value.at("pfc")),
          .ecn = priorities_from(value.at("ecn")),
          .traffic_class = number_from(value, "traffic_class", 255)};
}

DesiredRail rail_from(const Json& value) {
  const auto layer = parse_link_layer(value.at("link_layer").get<std::string>());
  if (!layer) throw BadValue{"link_layer: expected ethernet or infiniband"};
  return {.name = value.at("name"),
          .netdev = value.at("netdev"),
          .device = value.at("device"),
          .pci = value.at("pci"),
          .address = valid(parse_ipv4(value.at("address").get<std::string>())),
          .prefix = integer(value, "prefix", 0, 32),
          .mtu = integer(value, "mtu", 0, 65536),
          .rate_bits_per_s = value.at("rate_bits_per_s"),
          .link_layer = *layer,
          .vfs = integer(value, "vfs", 0, 1024),
          .vf = vf_from(value.at("vf")),
          .first_vf_guid = whole_from<std::uint64_t>(value, "first_vf_guid"),
          .roce = roce_from(value.at("roce"))};
}

Manage manage_from(const Json& value) {
  return {.packages = value.at("packages"),
          .memlock = value.at("memlock"),
          .sysctl = value.at("sysctl"),
          .modules = value.at("modules"),
          .network = value.at("network"),
          .persist = value.at("persist")};
}

std::optional<std::uint64_t> bytes_from(const Json& value) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_unsigned()) throw BadValue{"memlock_bytes: expected an unsigned integer or null"};
  return value.get<std::uint64_t>();
}

Reload reload_from(const Json& value) {
  const auto found = parse_reload(value.get<std::string>());
  if (!found) throw BadValue{"reload: expected never, safe or always"};
  return *found;
}

DriverSpec driver_from(const Json& value) {
  return {.owner = owner(value.at("owner")),
          .source = value.at("source"),
          .version = value.at("version"),
          .bundle = value.at("bundle"),
          .sha256 = value.at("sha256"),
          .repository = value.at("repository"),
          .repository_key = value.at("repository_key"),
          .flags = value.at("flags").get<std::vector<std::string>>(),
          .packages = value.at("packages").get<std::vector<std::string>>(),
          .reload = reload_from(value.at("reload"))};
}

/// One of two words, or nothing.
std::string mode_from(const Json& object, const char* key, const std::string& one, const std::string& other) {
  const auto text = object.at(key).get<std::string>();
  if (!text.empty() && text != one && text != other)
    throw BadValue{std::string(key) + ": '" + text + "' is no mode"};
  return text;
}

Desired desired_from(const Json& value) {
  Desired out{.node = value.at("node"),
              .management_address = value.at("management_address"),
              .management = valid(parse_cidr(value.at("management").get<std::string>())),
              .install_dir = value.at("install_dir"),
              .spool_dir = value.at("spool_dir"),
              .mpi_prefix = value.at("mpi_prefix"),
              .memlock_bytes = bytes_from(value.at("memlock_bytes")),
              .packages = value.at("packages").get<std::vector<std::string>>(),
              .sysctl = value.at("sysctl").get<std::map<std::string, std::string>>(),
              .modules = value.at("modules").get<std::vector<std::string>>(),
              .manage = manage_from(value.at("manage")),
              .driver = driver_from(value.at("driver")),
              .sriov_owner = owner(value.at("sriov_owner")),
              .eswitch = mode_from(value, "eswitch", "legacy", "switchdev"),
              .kernel_cmdline = value.at("kernel_cmdline"),
              .rdma_namespace = mode_from(value, "rdma_namespace", "shared", "exclusive")};
  for (const Json& rail : value.at("rails")) out.rails.push_back(rail_from(rail));
  return out;
}

}  // namespace

Json to_json_value(const Desired& value) {
  Json rails = Json::array();
  for (const DesiredRail& rail : value.rails) rails.push_back(to_json_value(rail));
  return {
      {"node", value.node},
      {"management_address", value.management_address},
      {"management", format_cidr(value.management)},
      {"install_dir", value.install_dir},
      {"spool_dir", value.spool_dir},
      {"mpi_prefix", value.mpi_prefix},
      {"rails", rails},
      {"memlock_bytes", value.memlock_bytes ? Json(*value.memlock_bytes) : Json()},
      {"packages", value.packages},
      {"sysctl", value.sysctl},
      {"modules", value.modules},
      {"manage", to_json_value(value.manage)},
      {"driver", to_json_value(value.driver)},
      {"sriov_owner", to_string(value.sriov_owner)},
      {"eswitch", value.eswitch},
      {"kernel_cmdline", value.kernel_cmdline},
      {"rdma_namespace", value.rdma_namespace}};
}

Result<Desired> desired_from_json(const Json& value) {
  try {
    return desired_from(value);
  } catch (const BadValue& bad) {
    return Error{ErrorKind::parse, "desired state: " + bad.what, 0};
  } catch (const Json::exception& error) {
    return Error{ErrorKind::parse, std::string("desired state: ") + error.what(), error.id};
  }
}

}  // namespace fabricgate
