#pragma once
/// From counted frames to lossy paths. Pure; the method stands at the head of frame_loss.cpp.
#include <optional>
#include <string>
#include <vector>

#include "fabric/pairs/localise.hpp"

namespace fabricgate::fabric {

struct LossLimits {
  double share = 0.001;      ///< of frames lost, at most
  std::uint64_t frames = 1;  ///< a train of fewer says nothing
};

enum class LossClass : std::uint8_t {
  clean,       ///< enough frames, none lost
  seen,        ///< some lost, but a longer train stayed within the limit
  lossy,       ///< two or more lost and more than the limit
  wavering,    ///< lossy with all rails running, within the limit alone
  undecided,   ///< a frame lost of a short train, and no longer one was counted
  clouded,     ///< the receiving host itself threw so much away that the wire cannot be judged
  silent,      ///< not one of the frames arrived
  unmeasured,  ///< no train, too short, or numbers that cannot be
};

struct Loss {
  LossClass result = LossClass::unmeasured;
  bool alone = false;        ///< told by the longer train
  std::uint64_t frames = 0;  ///< sent in the train that tells
  double share = 0;          ///< of these lost on the way
  std::string text;          ///< the numbers, or why there are none
};

Loss loss_of(const ReachAnswer& answer, const LossLimits& limits);

/// Share of the TCP segments of a stream that were sent again, where that is more than `share` and no accident; loss
/// that spares the counted frames (UDP) shows here.
std::optional<double> retransmitted(const DirectionSample& direction, double share);

/// The rails of a pair on which trains make sense: each end answers the other, alone, and frames of the declared MTU
/// pass both ways. What is wrong with the others is known without counting.
std::vector<std::string> countable_rails(const ReachSample& sample);

/// What the first trains say, for plan_retests: any frame lost makes a suspect.
PathClass suspicion(const ReachAnswer& answer);

/// One direction of one rail of a pair. `path` is without a class where nothing is to be concluded.
struct LossPath {
  PathResult path;
  std::uint64_t frames = 0;
};
LossPath loss_path(PathResult ends, const Loss& loss);

/// The paths as localise takes them: a short clean train does not clear an end that loses so few frames that a train of
/// that length would often lose none.
std::vector<PathResult> weigh(const std::vector<LossPath>& paths);

}  // namespace fabricgate::fabric
