#pragma once
/// Step 8 of localise: many small culprits become the few parts they are.
#include <vector>

#include "fabric/pairs/path_table.hpp"

namespace fabricgate::fabric {

/// Effect, share and final confidence from the evidence; an effect that is certain already is kept.
void describe(Culprit& culprit, const PathTable& table);

/// tx + rx → rail, all rails → node, all leaf pairs of a leaf → its uplink, all rails of a pair or group → one;
/// of a fabric too, unless it is slow: its rails may be declared at different rates.
std::vector<Culprit> fold(std::vector<Culprit> culprits, const Observation& observation);

}  // namespace fabricgate::fabric
