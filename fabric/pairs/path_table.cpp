#include "fabric/pairs/path_table.hpp"

#include <algorithm>

namespace fabricgate::fabric {

/// Counts of one cell, saturating: together and alone apart.
struct PathTable::Tally {
  std::uint8_t good[2] = {0, 0}, bad[2] = {0, 0}, unreachable[2] = {0, 0};
};

namespace {

void count(std::uint8_t& value) {
  if (value < 255) ++value;
}

bool valid(const PathResult& path, int nodes, int rails) {
  return path.from >= 0 && path.from < nodes && path.to >= 0 && path.to < nodes && path.from != path.to &&
         path.rail >= 0 && path.rail < rails;
}

bool same_rail(const ReachFact& fact, int nodes, int rails) {
  return fact.from >= 0 && fact.from < nodes && fact.to >= 0 && fact.to < nodes && fact.from != fact.to &&
         fact.from_rail == fact.to_rail && fact.to_rail >= 0 && fact.to_rail < rails;
}

}  // namespace

PathTable::PathTable(const Observation& observation)
    : nodes_(static_cast<int>(observation.nodes.size())),
      rails_(static_cast<int>(observation.rails.size())),
      loss_ceiling_(observation.loss_ceiling),
      cells_(static_cast<std::size_t>(nodes_) * nodes_ * rails_) {
  std::vector<Tally> tallies(cells_.size());
  for (const PathResult& path : observation.paths) {
    if (!valid(path, nodes_, rails_) || path.result == PathClass::unmeasured) continue;
    const std::size_t at = index(path.rail, path.from, path.to);
    const int alone = path.mode == PairMode::together ? 0 : 1;
    if (path.result == PathClass::good) count(tallies[at].good[alone]);
    if (path.result == PathClass::bad) count(tallies[at].bad[alone]);
    if (path.result == PathClass::unreachable) count(tallies[at].unreachable[alone]);
    Cell& cell = cells_[at];
    if (!alone && path.share >= 0)
      cell.loaded_share = cell.loaded_share < 0 ? path.share : std::min(cell.loaded_share, path.share);
    if (alone && !cell.retested) {
      cell.share = cell.loss = -1;
      cell.both = false;
      cell.flows_late = cell.flow_slow = cell.stall = 0;
    }
    cell.retested = cell.retested || alone;
    if (bool(alone) != cell.retested) continue;
    cell.both = cell.both || path.both;
    cell.flows_late = std::max(cell.flows_late, path.flows_late);
    cell.flow_slow = std::max(cell.flow_slow, path.flow_slow);
    cell.stall = std::max(cell.stall, path.stall);
    if (path.share >= 0) cell.share = cell.share < 0 ? path.share : std::min(cell.share, path.share);
    cell.loss = std::max(cell.loss, path.loss);
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) fold(tallies[i], cells_[i]);
  add_flows(observation);
  add_reach(observation);
}

void PathTable::fold(const Tally& tally, Cell& cell) const {
  const int alone = cell.retested ? 1 : 0;
  const int bad = tally.bad[alone] + tally.unreachable[alone];
  const int bad_together = tally.bad[0] + tally.unreachable[0];
  cell.loaded = bad_together + tally.good[0];
  cell.again = bad_together > 1;
  cell.alone_good = tally.good[1];
  cell.alone_bad = tally.bad[1] + tally.unreachable[1];
  if (bad == 0 && tally.good[alone] == 0) return;
  cell.unstable = bad > 0 && tally.good[alone] > 0;
  if (bad == 0) {
    cell.state = PathClass::good;
    cell.contention = alone && bad_together > 0;
    cell.unstable = cell.contention && tally.unreachable[0] > 0;
    return;
  }
  if (alone && tally.good[0] > 0 && bad_together == 0) cell.unstable = true;
  cell.state = tally.unreachable[alone] > tally.bad[alone] ? PathClass::unreachable : PathClass::bad;
}

/// No load loses a connection: each SYN is sent again. Where a hash takes few of them to a dead part, others may not meet
/// it.
void PathTable::add_flows(const Observation& observation) {
  for (const PathResult& path : observation.paths) {
    if (!valid(path, nodes_, rails_)) continue;
    Cell& cell = at(path.rail, path.from, path.to);
    cell.deaf = cell.deaf || path.deaf;
    if (path.flows_lost <= 0 && path.flows_blocked <= 0 && path.segment <= 0) continue;
    cell.flows_lost = std::max(cell.flows_lost, path.flows_lost);
    cell.flows_blocked = std::max(cell.flows_blocked, path.flows_blocked);
    cell.segment = std::max(cell.segment, path.segment);
    cell.contention = cell.unstable = false;
    if (cell.state != PathClass::unreachable) cell.state = PathClass::bad;
  }
}

void PathTable::add_reach(const Observation& observation) {
  for (const ReachFact& fact : observation.reach) {
    if (!same_rail(fact, nodes_, rails_)) continue;
    for (Cell* cell : {&at(fact.to_rail, fact.from, fact.to), &at(fact.to_rail, fact.to, fact.from)}) {
      if (fact.macs.empty() && cell->state == PathClass::unmeasured) cell->state = PathClass::unreachable;
      if (fact.dead) {
        cell->echo = cell->echo || cell->state == PathClass::good || cell->state == PathClass::bad;
        cell->state = cell->echo ? PathClass::bad : PathClass::unreachable;
        cell->contention = false;
      }
      if (!fact.mtu_failed) continue;
      cell->mtu = true;
      cell->contention = false;
      if (cell->state != PathClass::unreachable) cell->state = PathClass::bad;
    }
  }
}

template <class Visit>
void PathTable::visit(const End& end, Visit&& visitor) const {
  for (int rail = 0; rail < rails_; ++rail) {
    if (end.rail >= 0 && end.rail != rail) continue;
    for (int peer = 0; peer < nodes_; ++peer) {
      if (peer == end.node) continue;
      if (end.way != Way::rx) visitor(DirectedPath{end.node, peer, rail});
      if (end.way != Way::tx) visitor(DirectedPath{peer, end.node, rail});
    }
  }
}

std::vector<DirectedPath> PathTable::take(const End& end, bool certain) {
  std::vector<DirectedPath> taken;
  visit(end, [&](const DirectedPath& path) {
    if (!open(path.rail, path.from, path.to)) return;
    Cell& cell = at(path.rail, path.from, path.to);
    cell.explained = true;
    cell.certain = certain;
    taken.push_back(path);
  });
  return taken;
}

void PathTable::take(const DirectedPath& path) {
  if (!open(path.rail, path.from, path.to)) return;
  Cell& cell = at(path.rail, path.from, path.to);
  cell.explained = cell.certain = true;
}

std::vector<DirectedPath> PathTable::bad_paths(const End& end) const {
  std::vector<DirectedPath> paths;
  visit(end, [&](const DirectedPath& path) {
    if (bad(path.rail, path.from, path.to)) paths.push_back(path);
  });
  return paths;
}

int PathTable::good_paths(const End& end) const {
  int sum = 0;
  visit(end, [&](const DirectedPath& path) { sum += good(path.rail, path.from, path.to); });
  return sum;
}

PathTable PathTable::contention_view() const {
  PathTable view = *this;
  for (Cell& cell : view.cells_) {
    cell.explained = cell.certain = false;
    if (cell.contention) {
      cell.state = PathClass::bad;
      cell.share = cell.loaded_share;
    } else if (cell.state != PathClass::good) {
      cell.state = PathClass::unmeasured;
    }
  }
  return view;
}

bool PathTable::any_open() const {
  return std::any_of(cells_.begin(), cells_.end(), [](const Cell& cell) {
    return !cell.explained && (cell.state == PathClass::bad || cell.state == PathClass::unreachable);
  });
}

}  // namespace fabricgate::fabric
