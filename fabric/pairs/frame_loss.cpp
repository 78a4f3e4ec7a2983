/// Method. A short train on every path finds nearly every path that loses 1 % or more (256 frames: 92 %; 2048 find 0.2 % with
/// 98 %); a node has several partners, so a rail that loses less shows on one of them. One lost frame is no rate: the path gets a longer
/// train alone, which tells alone. A path is lossy when two or more frames are lost and their share is above the limit.
///
/// Frames that the receiving host threw away after the wire are taken off the lost ones; where only they make the share
/// too high, nothing is concluded. When not one frame arrives although echoes of the same size were answered a moment
/// ago, something filters them: that is not the wire either.
#include "fabric/pairs/frame_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace fabricgate::fabric {
namespace {

constexpr std::uint64_t least_lost = 2;  // one lost frame is no rate
constexpr std::uint64_t least_retransmitted = 5;  // an overrun queue costs a few at once
constexpr int suspect_paths = 2;         // one bad path says nothing about an end
constexpr double chance_of_none = 1e-3;  // a clean train below this chance contradicts a loss found elsewhere

std::string numbers(const FrameCount& count) {
  std::string text = fmt::format("{} of {} frames lost", count.sent - std::min(count.sent, count.received), count.sent);
  if (count.dropped > 0) text += fmt::format(", {} packets thrown away by the receiving host", count.dropped);
  return text;
}

bool too_many(std::uint64_t lost, const FrameCount& count, const LossLimits& limits) {
  return lost >= least_lost && static_cast<double>(lost) > limits.share * static_cast<double>(count.sent);
}

/// One train by itself; seen: some lost, within the limit.
Loss of_train(const FrameCount& count, const LossLimits& limits) {
  Loss loss{.frames = count.sent, .text = numbers(count)};
  if (count.sent == 0) {
    loss.text = count.error.empty() ? "no frames were counted" : "frames were not counted: " + count.error;
    return loss;
  }
  if (count.received > count.sent || count.repeated > count.sent) {
    loss.text = fmt::format("{} frames arrived of {} sent, {} once more", count.received, count.sent, count.repeated);
    return loss;
  }
  if (!count.error.empty()) {
    loss.text += ", and yet " + count.error;
    return loss;
  }
  const std::uint64_t missed = count.sent - count.received, lost = missed - std::min(missed, count.dropped);
  loss.share = static_cast<double>(lost) / static_cast<double>(count.sent);
  if (count.received == 0 && count.dropped == 0) {
    loss.result = LossClass::silent;
  } else if (too_many(lost, count, limits)) {
    loss.result = LossClass::lossy;
  } else if (count.sent < limits.frames) {
    loss.text += fmt::format("; that is too few to tell, at least {} must be sent", limits.frames);
  } else if (too_many(missed, count, limits) || count.dropped > count.sent) {
    loss.result = LossClass::clouded;
  } else {
    loss.result = missed == 0 ? LossClass::clean : LossClass::seen;
  }
  return loss;
}

/// Bad paths of one end, and the smallest share that one of them loses.
struct Bad {
  int paths = 0;
  double least = 1;
};

/// One end of a rail: node, rail, 0 sending or 1 receiving.
using Side = std::tuple<int, int, int>;
std::array<Side, 2> sides_of(const PathResult& path) {
  return {Side{path.from, path.rail, 0}, Side{path.to, path.rail, 1}};
}

}  // namespace

Loss loss_of(const ReachAnswer& answer, const LossLimits& limits) {
  Loss first = of_train(answer.frames, limits);
  if (answer.frames_alone.sent == 0) {
    if (first.result == LossClass::seen) first.result = LossClass::undecided;
    return first;
  }
  Loss alone = of_train(answer.frames_alone, limits);
  alone.alone = true;
  alone.text += ", alone; with others running " + first.text;
  const bool within = alone.result == LossClass::clean || alone.result == LossClass::seen;
  if (within && first.result == LossClass::lossy) alone.result = LossClass::wavering;
  if (alone.result == LossClass::clean && first.result == LossClass::seen) alone.result = LossClass::seen;
  return alone;
}

std::optional<double> retransmitted(const DirectionSample& direction, double share) {
  if (direction.retransmitted < least_retransmitted || direction.retransmitted > direction.segments) return {};
  const double again = static_cast<double>(direction.retransmitted) / static_cast<double>(direction.segments);
  return again > share ? std::optional<double>(again) : std::nullopt;
}

std::vector<std::string> countable_rails(const ReachSample& sample) {
  std::map<std::string, int> fit;
  std::vector<std::string> out;
  for (const ReachAnswer& answer : sample.answers) {
    const bool own = answer.from_rail == answer.to_rail && answer.error.empty();
    if (!own || answer.macs.size() != 1 || !answer.full_mtu) continue;
    if (answer.from == sample.a && answer.to == sample.b) fit[answer.from_rail] |= 1;
    if (answer.from == sample.b && answer.to == sample.a) fit[answer.from_rail] |= 2;
  }
  for (const auto& [rail, ways] : fit)
    if (ways == 3) out.push_back(rail);
  return out;
}

PathClass suspicion(const ReachAnswer& answer) {
  const FrameCount& count = answer.frames;
  if (count.sent == 0 || count.received == 0 || count.received > count.sent) return PathClass::unmeasured;
  return count.received == count.sent ? PathClass::good : PathClass::bad;
}

LossPath loss_path(PathResult ends, const Loss& loss) {
  ends.mode = loss.alone ? PairMode::alone : PairMode::together;
  ends.share = ends.loss = -1;
  ends.result = PathClass::unmeasured;
  if (loss.result == LossClass::lossy) ends.result = PathClass::bad;
  if (loss.result == LossClass::clean || loss.result == LossClass::seen) ends.result = PathClass::good;
  if (ends.result != PathClass::unmeasured) ends.loss = static_cast<float>(loss.share);
  return {ends, loss.frames};
}

std::vector<PathResult> weigh(const std::vector<LossPath>& paths) {
  std::map<Side, Bad> bad;
  for (const LossPath& entry : paths) {
    if (entry.path.result != PathClass::bad) continue;
    for (const Side& side : sides_of(entry.path)) {
      Bad& at = bad[side];
      ++at.paths;
      at.least = std::min(at.least, static_cast<double>(entry.path.loss));
    }
  }
  std::vector<PathResult> out;
  for (const LossPath& entry : paths) {
    PathResult path = entry.path;
    for (const Side& side : sides_of(path)) {
      const auto at = bad.find(side);
      if (path.result != PathClass::good || at == bad.end() || at->second.paths < suspect_paths) continue;
      const double none = std::pow(1 - at->second.least, static_cast<double>(entry.frames));
      if (none > chance_of_none) path.result = PathClass::unmeasured;
    }
    out.push_back(path);
  }
  return out;
}

}  // namespace fabricgate::fabric
