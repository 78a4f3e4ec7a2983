#pragma once
/// What rank 0 tells all ranks to do next, and what they answer. JSON over the Rendezvous.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::launch {

struct Order {
  std::string kind;         ///< arrive, roster, stage, facts, link, reach, frames, pairs, collective, counters, done
  nlohmann::json body;      ///< by kind, see the part that executes it
  double seconds = 0;       ///< how long a rank may take
};
std::string to_text(const Order& order);
Result<Order> order_from_text(const std::string& text);

struct Reply {
  std::vector<std::string> lines;  ///< records, one JSON line each
  nlohmann::json data;             ///< by kind
  std::string error;               ///< why the rank could not do its part at all
};
std::string to_text(const Reply& reply);
Result<Reply> reply_from_text(const std::string& text);

}  // namespace fabricgate::launch
