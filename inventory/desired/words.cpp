/// The words of the inventory's enumerations, shared by the YAML reader and the agent's JSON.
#include "inventory/inventory.hpp"

namespace fabricgate {

const char* to_string(LinkLayer value) {
  return value == LinkLayer::infiniband ? "infiniband" : "ethernet";
}

const char* to_string(Role value) {
  return value == Role::storage ? "storage" : "compute";
}

const char* to_string(Owner value) {
  switch (value) {
    case Owner::none:
      return "none";
    case Owner::host:
      return "host";
    case Owner::operator_:
      return "operator";
  }
  return "none";
}

const char* to_string(LinkPolicy value) {
  return value == LinkPolicy::follow ? "follow" : value == LinkPolicy::up ? "up" : "down";
}

const char* to_string(Reload value) {
  return value == Reload::never ? "never" : value == Reload::safe ? "safe" : "always";
}

std::optional<Reload> parse_reload(std::string_view text) {
  for (const Reload value : {Reload::never, Reload::safe, Reload::always})
    if (text == to_string(value)) return value;
  return std::nullopt;
}

std::optional<LinkPolicy> parse_link_policy(std::string_view text) {
  for (const LinkPolicy value : {LinkPolicy::follow, LinkPolicy::up, LinkPolicy::down})
    if (text == to_string(value)) return value;
  return std::nullopt;
}

std::optional<LinkLayer> parse_link_layer(std::string_view text) {
  for (const LinkLayer value : {LinkLayer::ethernet, LinkLayer::infiniband})
    if (text == to_string(value)) return value;
  return std::nullopt;
}

std::optional<Owner> parse_owner(std::string_view text) {
  for (const Owner value : {Owner::none, Owner::host, Owner::operator_})
    if (text == to_string(value)) return value;
  return std::nullopt;
}

}  // namespace fabricgate
