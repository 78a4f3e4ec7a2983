#pragma once
/// Asks the kernel which way it would send: `ip route get TARGET from SOURCE ipproto tcp`, and the neighbour entry of
/// the next hop. Needs no privilege; nothing is sent.
#include <cstdint>

#include "fabric/link/raw_socket.hpp"
#include "fabric/pairs/pair_sample.hpp"

namespace fabricgate::fabric {

class RouteSocket {
 public:
  static Result<RouteSocket> open();

  /// Addresses in host byte order. Where the kernel has no route the answer carries its error.
  NextHop next_hop(std::uint32_t source, std::uint32_t target) const;

 private:
  Descriptor netlink_, ip_;
};

}  // namespace fabricgate::fabric
