#include "inventory/observe/software.hpp"

#include <set>

namespace fabricgate {

bool made_by_software(const Netdev& netdev) {
  static const std::set<std::string> drivers{virtual_driver, "veth", "tun",     "tap",    "bridge", "dummy", "rxe",
                                             "siw",  "macvlan", "ipvlan", "ifb",    "vxlan"};
  return drivers.count(netdev.driver) != 0;
}

}  // namespace fabricgate
