#pragma once
/// Counting lost frames as data: which pairs send trains, when, and how two halves become one count. Pure.
#include <map>
#include <string>
#include <vector>

#include "fabric/link/train.hpp"
#include "fabric/pairs/pair_sample.hpp"
#include "fabric/pairs/retest.hpp"
#include "inventory/inventory.hpp"

namespace fabricgate::launch {

/// By hosts, in inventory order.
using ReachSamples = std::map<std::pair<std::string, std::string>, fabric::ReachSample>;

struct FrameTask {
  std::string a, b;
  std::vector<std::string> rails;
};
/// Disjoint pairs; they count at the same time.
using FrameRound = std::vector<FrameTask>;

struct FrameOrder {
  std::uint32_t frames = 0;  ///< of each train
  std::vector<FrameRound> rounds;
};
nlohmann::json to_json_value(const FrameOrder& order);
/// Throws nlohmann::json::exception.
FrameOrder frame_order_from(const nlohmann::json& body);

/// Of a first train: what the slowest rail carries in 0.1 s, from 256 to 2048.
std::uint32_t first_frames(const Inventory& inventory);

/// Every pair once, on each rail that reachability found nothing wrong with.
FrameOrder first_trains(const std::vector<std::vector<std::pair<std::string, std::string>>>& rounds,
                        const ReachSamples& samples, std::uint32_t frames);

/// Longer trains, alone, for paths that lost a frame, and for their ends with partners that lost none.
/// `first`: frames of the first ones.
FrameOrder longer_trains(const std::vector<std::string>& hosts, const ReachSamples& samples, std::uint32_t first);

/// What a rank may need for an order at most; on the slowest rail of the inventory.
double frame_seconds(const FrameOrder& order, const Inventory& inventory);

nlohmann::json to_json_value(const std::vector<fabric::TrainHalf>& halves);
/// Throws nlohmann::json::exception.
std::vector<fabric::TrainHalf> halves_from(const nlohmann::json& data);

/// The halves of all ranks (host → its halves) into the answers of the pairs of `order`; `longer`: into frames_alone. A
/// half that is missing is an error in the count.
void merge_halves(const FrameOrder& order, const std::map<std::string, std::vector<fabric::TrainHalf>>& halves,
                  bool longer, ReachSamples& samples);

}  // namespace fabricgate::launch
