#pragma once
/// Test support: a small fabric with faults put in by hand, and what a run would observe of it.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fabric/pairs/localise.hpp"

namespace fabricgate::fabric::testing {

struct World {
  int nodes, rails;
  std::vector<float> share;            ///< [rail][from][to]
  std::vector<char> measured, mtu_ok;  ///< same
  std::vector<float> loss;
  std::vector<int> network;       ///< [node][rail]: physical network the interface is in; −1 down
  std::vector<std::string> leaf;  ///< per node, may be empty
  std::vector<RailFact> facts;    ///< [node][rail]
  struct Twin {
    End owner, other;
  };
  std::vector<Twin> twins;        ///< addresses that exist twice
  std::vector<PathResult> extra;  ///< repetitions

  World(int n, int r)
      : nodes(n),
        rails(r),
        share(n * n * r, 0.97F),
        measured(n * n * r, 1),
        mtu_ok(n * n * r, 1),
        loss(n * n * r, 0.0005F) {
    for (int node = 0; node < n; ++node) {
      for (int rail = 0; rail < r; ++rail) {
        network.push_back(rail);
        facts.push_back({.node = node, .rail = rail, .mtu = 9000, .mtu_declared = 9000, .mac = mac(node, rail)});
      }
    }
  }

  static std::string mac(int node, int rail) { return fmt::format("02:00:00:00:{:02x}:{:02x}", node, rail); }
  std::size_t at(int rail, int from, int to) const {
    return (static_cast<std::size_t>(rail) * nodes + from) * nodes + to;
  }
  int& net(int node, int rail) { return network[node * rails + rail]; }
  int net(int node, int rail) const { return network[node * rails + rail]; }
  RailFact& fact(int node, int rail) { return facts[node * rails + rail]; }

  template <class F>
  void each_peer(int node, F&& f) {
    for (int peer = 0; peer < nodes; ++peer) {
      if (peer != node) f(peer);
    }
  }
  void slow(const End& end, float s, float l = 0.0005F) {
    for (int rail = 0; rail < rails; ++rail) {
      if (end.rail >= 0 && end.rail != rail) continue;
      each_peer(end.node, [&](int peer) {
        if (end.way != Way::rx) slow_path(end.node, peer, rail, s, l);
        if (end.way != Way::tx) slow_path(peer, end.node, rail, s, l);
      });
    }
  }
  void slow_path(int from, int to, int rail, float s, float l = 0.0005F) {
    share[at(rail, from, to)] = std::min(share[at(rail, from, to)], s);
    loss[at(rail, from, to)] = std::max(loss[at(rail, from, to)], l);
  }
  void small_mtu(int node, int rail) {
    each_peer(node, [&](int peer) { mtu_ok[at(rail, node, peer)] = mtu_ok[at(rail, peer, node)] = 0; });
  }

  bool connected(int a, int rail_a, int b, int rail_b) const {
    return net(a, rail_a) >= 0 && net(a, rail_a) == net(b, rail_b);
  }
  bool reached(int from, int to, int rail) const {
    if (!connected(from, rail, to, rail) || share[at(rail, from, to)] <= 0) return false;
    return std::none_of(twins.begin(), twins.end(), [&](const Twin& twin) {
      const std::set<int> ends{twin.owner.node, twin.other.node};
      return twin.owner.rail == rail && ends.count(from) && ends.count(to);
    });
  }

  PathResult path(int from, int to, int rail) const {
    const float s = share[at(rail, from, to)];
    PathResult out{.from = from, .to = to, .rail = rail, .share = s, .loss = loss[at(rail, from, to)]};
    out.result = s >= 0.8F ? PathClass::good : PathClass::bad;
    if (!reached(from, to, rail) || !reached(to, from, rail))
      out.result = PathClass::unreachable, out.share = out.loss = -1;
    if (!measured[at(rail, from, to)]) out.result = PathClass::unmeasured;
    return out;
  }

  ReachFact ask(int from, int from_rail, int to, int to_rail) const {
    ReachFact out{.from = from, .from_rail = from_rail, .to = to, .to_rail = to_rail};
    if (connected(from, from_rail, to, to_rail)) out.macs.push_back(mac(to, to_rail));
    for (const Twin& twin : twins) {
      const bool asked = twin.owner.node == to && twin.owner.rail == to_rail && twin.other.node != from;
      if (asked && connected(from, from_rail, twin.other.node, twin.other.rail))
        out.macs.push_back(mac(twin.other.node, twin.other.rail));
    }
    out.mtu_failed = from_rail == to_rail && !out.macs.empty() && !mtu_ok[at(to_rail, from, to)];
    return out;
  }

  Observation observe() const {
    Observation o;
    for (int node = 0; node < nodes; ++node) o.nodes.push_back(fmt::format("n{}", node));
    for (int rail = 0; rail < rails; ++rail) o.rails.push_back(fmt::format("rail{}", rail));
    for (const std::string& name : leaf) o.leaves.push_back(std::vector<std::string>(rails, name));
    o.facts = facts;
    o.share_floor = 0.8;
    for (int from = 0; from < nodes; ++from) {
      for (int to = 0; to < nodes; ++to) {
        for (int rail = 0; rail < rails && from != to; ++rail) {
          o.paths.push_back(path(from, to, rail));
          for (int other = 0; other < rails && measured[at(rail, from, to)]; ++other)
            o.reach.push_back(ask(from, other, to, rail));
        }
      }
    }
    o.paths.insert(o.paths.end(), extra.begin(), extra.end());
    return o;
  }
};

inline std::string key(const Culprit& c) {
  std::vector<std::string> ends;
  for (const End& end : c.ends) ends.push_back(fmt::format("n{}.{}.{}", end.node, end.rail, to_string(end.way)));
  if (c.kind != CulpritKind::pair) std::sort(ends.begin(), ends.end());
  std::string out = fmt::format("{} {} {}", to_string(c.kind), to_string(c.effect), fmt::join(ends, " "));
  if (c.kind == CulpritKind::between)
    out += fmt::format(" [{}] [{}]", fmt::join(c.group_a, ","), fmt::join(c.group_b, ","));
  return out;
}

inline std::set<std::string> keys(const std::vector<Culprit>& culprits) {
  std::set<std::string> out;
  for (const Culprit& culprit : culprits) out.insert(key(culprit));
  return out;
}

/// Bad or unreachable paths (contention included) that no culprit has as evidence.
inline std::vector<std::string> lost_paths(const Observation& o, const std::vector<Culprit>& culprits) {
  std::set<DirectedPath> listed, bad;
  for (const Culprit& culprit : culprits) listed.insert(culprit.evidence.begin(), culprit.evidence.end());
  for (const PathResult& path : o.paths) {
    const DirectedPath p{path.from, path.to, path.rail};
    if (path.result == PathClass::bad || path.result == PathClass::unreachable) bad.insert(p);
  }
  std::vector<std::string> lost;
  for (const DirectedPath& p : bad) {
    if (!listed.count(p)) lost.push_back(fmt::format("n{}→n{} rail{}", p.from, p.to, p.rail));
  }
  return lost;
}

}  // namespace fabricgate::fabric::testing
