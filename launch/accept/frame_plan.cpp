#include "launch/accept/frame_plan.hpp"

#include <algorithm>
#include <set>

#include "fabric/pairs/frame_loss.hpp"
#include "results/json_text.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

/// 256 frames find 5 % surely and 1 % with 92 %; 2048, which rails of 1.5 Gb/s and more get, find 0.2 % with 98 %. Twice that
/// tells 0.1 % from 0.3 %.
constexpr std::uint32_t fewest_frames = 256, most_frames = 2048, least_longer_frames = 2048;
constexpr double first_s = 0.1;  // of a train at the rate of the slowest rail
/// Of a longer train against a first one.
constexpr std::uint32_t longer_by = 2;
/// Bounds the longer trains of a fleet in which much is wrong.
constexpr int longer_rounds = 16;

/// One frame on the slowest rail of the inventory.
double slowest_frame_s(const Inventory& inventory) {
  double slowest = 0;
  for (const Node& node : inventory.nodes) {
    if (!node.spec) continue;
    for (const Rail& rail : node.spec->rails)
      slowest = std::max(slowest, 8.0 * rail.mtu / std::max(1e6, rail.rate_bits_per_s));
  }
  return slowest;
}

const fabric::TrainHalf* half_of(const std::map<std::string, std::vector<fabric::TrainHalf>>& halves,
                                 const std::string& host, const std::string& peer, const std::string& rail) {
  const auto of_host = halves.find(host);
  if (of_host == halves.end()) return nullptr;
  for (const fabric::TrainHalf& half : of_host->second)
    if (half.peer == peer && half.rail == rail) return &half;
  return nullptr;
}

/// From the sender's half and the receiver's.
fabric::FrameCount count_of(const fabric::TrainHalf* sender, const fabric::TrainHalf* receiver,
                            const fabric::ReachAnswer& answer) {
  fabric::FrameCount count;
  if (sender == nullptr || receiver == nullptr) {
    count.error = (sender == nullptr ? answer.from : answer.to) + " did not say what it counted";
  } else if (!sender->error.empty() || !receiver->error.empty()) {
    const bool mine = !sender->error.empty();
    count.error = (mine ? answer.from : answer.to) + ": " + (mine ? sender : receiver)->error;
  } else {
    count.sent = sender->sent;
    count.received = receiver->received;
    count.repeated = receiver->repeated;
    count.dropped = receiver->dropped;
    if (count.sent == 0) count.error = answer.from + " sent no frame";
  }
  return count;
}

/// First trains as paths, for the plan of the longer ones.
fabric::Observation suspects(const std::vector<std::string>& hosts, const ReachSamples& samples) {
  fabric::Observation out;
  out.nodes = hosts;
  const auto index = [](std::vector<std::string>& names, const std::string& name, bool add) {
    const auto at = std::find(names.begin(), names.end(), name);
    const int found = static_cast<int>(at - names.begin());
    if (at != names.end()) return found;
    if (add) names.push_back(name);
    return add ? found : -1;
  };
  for (const auto& [pair, sample] : samples)
    for (const fabric::ReachAnswer& answer : sample.answers) {
      if (answer.from_rail != answer.to_rail) continue;
      out.paths.push_back({.from = index(out.nodes, answer.from, false),
                           .to = index(out.nodes, answer.to, false),
                           .rail = index(out.rails, answer.from_rail, true),
                           .result = fabric::suspicion(answer)});
    }
  return out;
}

}  // namespace

json to_json_value(const FrameOrder& order) {
  json rounds = json::array();
  for (const FrameRound& round : order.rounds) {
    json tasks = json::array();
    for (const FrameTask& task : round) tasks.push_back({{"a", task.a}, {"b", task.b}, {"rails", task.rails}});
    rounds.push_back(std::move(tasks));
  }
  return {{"frames", order.frames}, {"rounds", std::move(rounds)}};
}

FrameOrder frame_order_from(const json& body) {
  FrameOrder order{.frames = whole_from<std::uint32_t>(body, "frames"), .rounds = {}};
  for (const json& round : body.at("rounds")) {
    FrameRound& tasks = order.rounds.emplace_back();
    for (const json& task : round)
      tasks.push_back({task.at("a").get<std::string>(), task.at("b").get<std::string>(),
                       task.at("rails").get<std::vector<std::string>>()});
  }
  return order;
}

std::uint32_t first_frames(const Inventory& inventory) {
  const double frames = first_s / std::max(1e-9, slowest_frame_s(inventory));
  return static_cast<std::uint32_t>(std::clamp<double>(frames, fewest_frames, most_frames));
}

FrameOrder first_trains(const std::vector<std::vector<std::pair<std::string, std::string>>>& rounds,
                        const ReachSamples& samples, std::uint32_t frames) {
  FrameOrder order{.frames = frames, .rounds = {}};
  for (const auto& round : rounds) {
    FrameRound tasks;
    for (const auto& pair : round) {
      const auto sample = samples.find(pair);
      if (sample == samples.end()) continue;
      FrameTask task{pair.first, pair.second, fabric::countable_rails(sample->second)};
      if (!task.rails.empty()) tasks.push_back(std::move(task));
    }
    if (!tasks.empty()) order.rounds.push_back(std::move(tasks));
  }
  return order;
}

FrameOrder longer_trains(const std::vector<std::string>& hosts, const ReachSamples& samples, std::uint32_t first) {
  const fabric::Observation observation = suspects(hosts, samples);
  FrameOrder order{.frames = std::max(least_longer_frames, longer_by * first), .rounds = {}};
  for (const fabric::RetestRound& round : fabric::plan_retests(observation, {.max_rounds = longer_rounds}).rounds) {
    FrameRound& tasks = order.rounds.emplace_back();
    for (const fabric::Retest& test : round)
      tasks.push_back({hosts[test.a], hosts[test.b], {observation.rails[test.rail]}});
  }
  return order;
}

double frame_seconds(const FrameOrder& order, const Inventory& inventory) {
  constexpr double start_s = 10, round_s = 3;  // a path on which nobody answers waits for most of a round
  const double train_s = order.frames * slowest_frame_s(inventory);
  return start_s + static_cast<double>(order.rounds.size()) * (round_s + 4 * train_s);
}

json to_json_value(const std::vector<fabric::TrainHalf>& halves) {
  json out = json::array();
  for (const fabric::TrainHalf& half : halves)
    out.push_back({{"peer", half.peer},
                   {"rail", half.rail},
                   {"sent", half.sent},
                   {"received", half.received},
                   {"repeated", half.repeated},
                   {"dropped", half.dropped},
                   {"error", half.error}});
  return out;
}

std::vector<fabric::TrainHalf> halves_from(const json& data) {
  std::vector<fabric::TrainHalf> out;
  for (const json& half : data)
    out.push_back({.peer = half.at("peer").get<std::string>(),
                   .rail = half.at("rail").get<std::string>(),
                   .sent = count_from(half, "sent"),
                   .received = count_from(half, "received"),
                   .repeated = count_from(half, "repeated"),
                   .dropped = count_from(half, "dropped"),
                   .error = half.at("error").get<std::string>()});
  return out;
}

void merge_halves(const FrameOrder& order, const std::map<std::string, std::vector<fabric::TrainHalf>>& halves,
                  bool longer, ReachSamples& samples) {
  for (const FrameRound& round : order.rounds)
    for (const FrameTask& task : round) {
      const auto sample = samples.find({task.a, task.b});
      if (sample == samples.end()) continue;
      for (fabric::ReachAnswer& answer : sample->second.answers) {
        const std::string& rail = answer.from_rail;
        if (rail != answer.to_rail || std::find(task.rails.begin(), task.rails.end(), rail) == task.rails.end())
          continue;
        (longer ? answer.frames_alone : answer.frames) = count_of(
            half_of(halves, answer.from, answer.to, rail), half_of(halves, answer.to, answer.from, rail), answer);
      }
    }
}

}  // namespace fabricgate::launch
