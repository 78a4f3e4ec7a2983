#pragma once
/// What the ends of a pair tell one another before they measure. Only for fabric/round.
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::fabric {

/// What one end tells the other of one rail or of the overlay: how to reach it, or why not.
struct Offer {
  std::string address;  ///< worker address, or the port
  std::string error;
  int flow_port = 0;    ///< of a rail: takes the peer's many short connections; 0: they are not dialled
};

std::string pack(const std::vector<Offer>& offers);
/// Kind parse where these are not `expected` offers.
Result<std::vector<Offer>> unpack(const std::string& text, std::size_t expected);

}  // namespace fabricgate::fabric
