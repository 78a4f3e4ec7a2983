// What two nodes find out about the path between them.
#include <algorithm>
#include <stdexcept>

#include "fabric/link/reach.hpp"
#include "fabric/pairs/pair_sample.hpp"
#include "fabric/round/merge.hpp"
#include "fabric/round/run.hpp"
#include "launch/accept/parts.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

/// Hosts this node is paired with in any round, each once.
std::vector<std::string> peers_of(const std::string& name, const json& body) {
  const auto hosts = body.at("hosts").get<std::vector<std::string>>();
  std::vector<std::string> out;
  for (const json& round : body.at("rounds"))
    for (const json& pair : round) {
      const std::string& a = hosts.at(pair.at(0).get<std::size_t>());
      const std::string& b = hosts.at(pair.at(1).get<std::size_t>());
      if (a == name) out.push_back(b);
      if (b == name) out.push_back(a);
    }
  return out;
}

}  // namespace

PartResult measure_reach(Work& work, const json& body, Deadline deadline) {
  std::vector<fabric::ReachQuestion> questions;
  for (const std::string& peer : peers_of(work.name(), body)) {
    const auto index = work.setup.inventory.find(peer);
    if (!index) continue;
    for (fabric::ReachQuestion& question : fabric::reach_questions(work.want, desired(work.setup.inventory, *index)))
      questions.push_back(std::move(question));
  }
  fabric::ReachSample mine{.a = work.name(), .b = "", .answers = fabric::run_reach(questions, {}, deadline)};
  return {.measured = {}, .stored = {}, .data = to_json_value(mine)};
}

PartResult measure_pairs(Work& work, const json& body, Deadline deadline) {
  auto order = fabric::round_order_from_json(body);
  if (!order) throw std::runtime_error(order.error().what);
  order->deadline_s = std::min(order->deadline_s, deadline.left_s());
  return {.measured = {}, .stored = {}, .data = fabric::halves_to_text(fabric::run_round(work.meet, *order))};
}

}  // namespace fabricgate::launch
