#pragma once
/// The pure part of the network step: what `ip` has to be told.
#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

/// `observed` as the network step's observe gives it:
///   {"links": {netdev: {"up": bool, "mtu": int}}, "addresses": [{"netdev", "address", "prefix"}], "routes":
///   ["10.0.0.0/24 dev e1"],
///    "protected": {netdev: reason}, "owners": {netdev: owner}, "files": {path: content}}
/// Argument lists of `ip`, rail by rail: wrong addresses away first, then the right one, MTU, up, route. Findings for
/// rails that cannot be or must not be touched go to `findings`.
std::vector<std::vector<std::string>> ip_commands(const Desired& desired, const nlohmann::json& observed,
                                                  std::vector<Finding>& findings);

/// True when the rail's interface exists and may be touched.
bool may_touch(const nlohmann::json& observed, const std::string& netdev);

}  // namespace fabricgate::bootstrap
