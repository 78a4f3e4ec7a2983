#pragma once
/// The attempts at one path together. Only for suites/gate.
#include <cstddef>
#include <utility>
#include <vector>

#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {

/// All attempts at one (check, pair, rail), planned one first.
using Group = std::vector<const Exhibit*>;
std::vector<Group> groups_of(const Exhibits& exhibits);

/// The one measurement that was slow, where every other one was good, alone and with others running: a warning. One that was
/// alone takes `settling_good` others alone. Wrong data is never that.
const Exhibit* slow_once(const Group& group);

/// Of what is wrong between two nodes each: the node that has it with the most partners, if these are two at least and more than
/// half of all, so that it is the one to touch; -1: none, or two nodes are equal.
using NodePairs = std::vector<std::pair<int, int>>;
int common_node(const NodePairs& pairs, std::size_t nodes);

/// Warnings of one path. What was seen with others running, and not in any repetition alone, is told once as that,
/// whatever it looked like; so is `slow`, which was slow_once.
void warn(const Group& group, const Exhibit* slow, std::vector<PairWarning>& warnings);

}  // namespace fabricgate::suites
