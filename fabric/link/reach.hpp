#pragma once
/// Reachability before bandwidth: who answers ARP for an address on a rail, and does a frame of the declared MTU get
/// there. Needs CAP_NET_RAW; the other end takes no part beyond its kernel.
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/pairs/pair_sample.hpp"
#include "inventory/desired/desired.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

struct ReachQuestion {
  std::string from, from_rail, to, to_rail;  ///< copied into the answer
  std::string netdev;                        ///< local interface to ask on
  std::uint32_t source = 0;                  ///< its own address, host byte order
  std::uint32_t target = 0;                  ///< address asked for, host byte order
  int mtu = 0;                               ///< size of IP packet that must get through; 0: not asked
};

struct ReachOptions {
  int tries = 3;
  double try_s = 0.1;  ///< wait after each try; answers of every try are collected
  int window = 256;    ///< targets asked at the same time
};

/// Every rail of `local` against every rail of `peer`; equal rail names also probe the MTU.
std::vector<ReachQuestion> reach_questions(const Desired& local, const Desired& peer);

/// One answer per question, same order. All interfaces are asked at the same time. What could not be asked carries an
/// error that says why; silence is an answer without MACs.
std::vector<ReachAnswer> run_reach(const std::vector<ReachQuestion>& questions, const ReachOptions& options,
                                   Deadline deadline);

}  // namespace fabricgate::fabric
