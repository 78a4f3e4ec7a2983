#pragma once
/// The measured paths of a run as one table: a cell per rail and direction, repeated measurements folded into one
/// class.
#include <vector>

#include "fabric/pairs/localise.hpp"

namespace fabricgate::fabric {

struct Cell {
  PathClass state = PathClass::unmeasured;
  bool contention = false;  ///< bad with others running, good alone
  int loaded = 0;           ///< measurements with others running
  bool again = false;       ///< bad in more than one of these
  int alone_good = 0, alone_bad = 0;  ///< measurements alone or with a partner
  bool unstable = false;    ///< repetitions of the same kind disagree, or good together and bad alone
  bool mtu = false;         ///< frames of the declared MTU do not pass
  bool echo = false;        ///< no echo is answered, though data passed
  bool retested = false;    ///< measured alone or with a partner
  bool explained = false;   ///< a culprit has it as evidence
  bool certain = false;     ///< … and that culprit needs no inference: the path says nothing about other parts
  bool both = false;        ///< bad only with both directions running at once
  float share = -1, loss = -1;
  float loaded_share = -1;  ///< the least share with others running
  float flows_lost = 0, flows_blocked = 0;
  float flows_late = 0, flow_slow = 0, stall = 0;
  int segment = 0;
  bool deaf = false;        ///< as in PathResult
};

class PathTable {
 public:
  /// Folds: what was measured alone outranks what was measured together; an ARP question without answer makes an
  /// unmeasured path unreachable both ways, an answer without any echo every path; a failed full-size frame makes a path bad both ways.
  /// Connections that were lost and segments that are small stay, whatever the repetitions gave.
  explicit PathTable(const Observation& observation);

  int nodes() const { return nodes_; }
  int rails() const { return rails_; }
  double loss_ceiling() const { return loss_ceiling_; }
  Cell& at(int rail, int from, int to) { return cells_[index(rail, from, to)]; }
  const Cell& at(int rail, int from, int to) const { return cells_[index(rail, from, to)]; }
  bool good(int rail, int from, int to) const { return at(rail, from, to).state == PathClass::good; }
  bool bad(int rail, int from, int to) const {
    const PathClass state = at(rail, from, to).state;
    return state == PathClass::bad || state == PathClass::unreachable;
  }
  /// Bad and not yet explained.
  bool open(int rail, int from, int to) const { return bad(rail, from, to) && !at(rail, from, to).explained; }

  /// Marks the open paths that leave (tx), enter (rx) or touch (both) an interface as explained and returns them.
  std::vector<DirectedPath> take(const End& end, bool certain = false);
  /// The same of one path.
  void take(const DirectedPath& path);
  /// The bad paths at an interface, explained or not.
  std::vector<DirectedPath> bad_paths(const End& end) const;
  int good_paths(const End& end) const;

  /// The table of contention: its paths are the bad ones, real faults count as unmeasured.
  PathTable contention_view() const;
  bool any_open() const;

 private:
  struct Tally;

  std::size_t index(int rail, int from, int to) const {
    return (static_cast<std::size_t>(rail) * nodes_ + from) * nodes_ + to;
  }
  void fold(const Tally& tally, Cell& cell) const;
  void add_reach(const Observation& observation);
  void add_flows(const Observation& observation);
  template <class Visit>
  void visit(const End& end, Visit&& visitor) const;

  int nodes_ = 0, rails_ = 0;
  double loss_ceiling_ = 1;
  std::vector<Cell> cells_;
};

}  // namespace fabricgate::fabric
