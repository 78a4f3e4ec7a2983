// What two nodes find out about the path between them.
#include <algorithm>
#include <stdexcept>

#include "fabric/link/reach.hpp"
#include "fabric/pairs/pair_sample.hpp"
#include "fabric/round/merge.hpp"
#include "fabric/round/run.hpp"
#include "launch/accept/frame_plan.hpp"
#include "launch/accept/parts.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

/// Hosts this node is paired with.
std::vector<std::string> peers_of(const std::string& name, const json& body) {
  std::vector<std::string> out;
  for (const json& pair : body.at("pairs")) {
    const auto a = pair.at(0).get<std::string>(), b = pair.at(1).get<std::string>();
    if (a == name) out.push_back(b);
    if (b == name) out.push_back(a);
  }
  return out;
}

/// The rails of a task as this node sees them, in the order of the task.
std::vector<fabric::TrainRail> train_rails(const Work& work, const std::string& peer, const std::vector<std::string>& names) {
  const auto index = work.setup.inventory.find(peer);
  if (!index) throw std::runtime_error(peer + " is not in the inventory");
  const Desired theirs = desired(work.setup.inventory, *index);
  std::vector<fabric::TrainRail> out;
  for (const std::string& name : names) {
    const auto find = [&name](const std::vector<DesiredRail>& rails) {
      return std::find_if(rails.begin(), rails.end(), [&name](const DesiredRail& rail) { return rail.name == name; });
    };
    const auto here = find(work.want.rails), there = find(theirs.rails);
    if (here == work.want.rails.end() || there == theirs.rails.end()) throw std::runtime_error("rail " + name + " is not of both nodes");
    out.push_back({.rail = name, .netdev = here->netdev, .source = here->address, .target = there->address, .mtu = std::min(here->mtu, there->mtu)});
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

PartResult measure_frames(Work& work, const json& body, Deadline deadline) {
  const FrameOrder order = frame_order_from(body);
  std::vector<fabric::TrainHalf> all;
  for (const FrameRound& round : order.rounds)
    for (const FrameTask& task : round) {
      if (task.a != work.name() && task.b != work.name()) continue;
      const std::string& peer = task.a == work.name() ? task.b : task.a;
      const fabric::TrainOptions options{.pace = {.frames = order.frames}};
      for (fabric::TrainHalf& half : fabric::run_trains(work.meet, work.rank_of(peer), 0, train_rails(work, peer, task.rails), options, deadline)) {
        half.peer = peer;
        all.push_back(std::move(half));
      }
    }
  return {.measured = {}, .stored = {}, .data = to_json_value(all)};
}

PartResult measure_pairs(Work& work, const json& body, Deadline deadline) {
  auto order = fabric::round_order_from_json(body);
  if (!order) throw std::runtime_error(order.error().what);
  order->deadline_s = std::min(order->deadline_s, deadline.left_s());
  return {.measured = {}, .stored = {}, .data = fabric::share_to_text(fabric::run_round(work.meet, work.host, *order))};
}

}  // namespace fabricgate::launch
