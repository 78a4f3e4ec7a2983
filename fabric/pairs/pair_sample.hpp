#pragma once
/// What two nodes measured of the path between them. Plain data, SI units, JSON both ways; judged in suites/checks.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::fabric {

/// One message size in one direction.
struct SizePoint {
  std::uint64_t bytes = 0;
  double bytes_per_s = 0;      ///< steady part only, counted at the receiver
  std::uint64_t messages = 0;  ///< in the measured window
  double elapsed_s = 0;
};

struct DirectionSample {
  std::vector<SizePoint> sweep;       ///< ascending sizes; the last is the one judged
  std::uint64_t payload_errors = 0;   ///< messages whose content was wrong
  std::uint64_t payload_checked = 0;  ///< messages whose content was checked
  std::uint64_t sent_bytes = 0;       ///< payload handed over by the sender, all sizes and warm-ups, by its own count
  std::uint64_t received_bytes = 0;   ///< payload that arrived, by the receiver's count
  std::uint64_t segments = 0;         ///< of TCP with data that the sender sent during the last size; 0: not told
  std::uint64_t retransmitted = 0;    ///< of these, sent once more
  /// Processor seconds of the thread at either end for each byte of the last size, warm-up included; 0: not told.
  double sent_cpu_s_per_byte = 0, received_cpu_s_per_byte = 0;
  double longest_gap_s = 0;           ///< between two messages of the last size at the receiver; 0: not told
  std::string first_wrong;            ///< "message 3 of 4096 bytes, byte 8: expected 0x.., found 0x.."; empty when none
  std::string error;                  ///< empty when it ran to its end
};

/// Short TCP connections that one end dialled to the other, all at once, before anything was streamed
/// (fabric/tcp/flows.hpp).
struct FlowCount {
  /// So long a burst may take: what is lost is sent again after 0.2, 0.6 and 1.4 s where the round trip is short.
  static constexpr double burst_s = 2;
  static constexpr int repetitions = 3;  ///< of a burst that stands out

  std::uint64_t dialled = 0;        ///< 0: not tried
  std::uint64_t answered = 0;       ///< connected, and the peer's process answered the token rightly
  std::uint64_t late = 0;           ///< of these, after a segment was sent again
  std::uint64_t segment_bytes = 0;  ///< most payload the dialling end puts into a TCP segment to the peer, the least over
                                    ///< its connections of both ways; 0: none was made
  std::string first_lost;           ///< "from port 40123: no answer in 3.5 s"; empty: none
  std::uint64_t whole = 0;          ///< of those answered, a burst of full-size segments came there and back
  std::uint64_t blocked = 0;        ///< of those answered, no segment of full size came there, or none back
  double usual_s = 0;               ///< what a quarter of the bursts took at most, there and back; 0: none came back
  double slowest_s = 0;             ///< the best time of the slowest that stood out in every repetition, else usual_s
  std::string first_blocked;        ///< as first_lost
  std::string error;                ///< why they were not counted; empty: they were

  bool dead() const { return dialled > 0 && answered == 0; }
  bool lost() const { return answered < dialled; }
};

/// How a pair was measured; a suspect is repeated in other ways before it is blamed.
enum class PairMode {
  together,  ///< all rails of the pair at once, other pairs in the same round
  alone,     ///< this rail of this pair, nothing else running
  partner    ///< alone, one end replaced by a known-good node
};
const char* to_string(PairMode mode);
Result<PairMode> parse_pair_mode(std::string_view text);

/// Sample of pair.rail (engine "ucx-tcp" or a later one) and pair.overlay (engine "tcp", rail empty).
struct PairSample {
  std::string a, b;  ///< node names, inventory order
  std::string rail;
  std::string engine;
  PairMode mode = PairMode::together;
  DirectionSample a_to_b, b_to_a;
  DirectionSample a_to_b_both, b_to_a_both;  ///< one size, both directions running at once; no sweep: not tried
  FlowCount flows_a_to_b, flows_b_to_a;         ///< by who dialled; not tried on the overlay
  std::uint64_t latency_iterations = 0;
  double latency_p50_s = 0, latency_p99_s = 0;  ///< half round trip, smallest size
  std::string error;            ///< set-up failed before any direction could run: what, where, native code
  std::string error_host;       ///< which end said so, empty when both
  std::string rdma_skipped;     ///< of a rail: why there is no pair.rdma beside it; empty: there is
  double concurrent_pairs = 1;  ///< pairs active in the round
};

/// A counted train of frames of the declared MTU, one direction of one rail (fabric/link/train.hpp).
struct FrameCount {
  std::uint64_t sent = 0;      ///< by the sender's count; 0: no train
  std::uint64_t received = 0;  ///< different frames that arrived, by the receiver's count
  std::uint64_t repeated = 0;  ///< arrived once more
  std::uint64_t dropped = 0;   ///< packets the receiver's own host threw away meanwhile, after the wire
  std::string error;           ///< why there is no count

  friend bool operator==(const FrameCount&, const FrameCount&) = default;
};

/// How a node's own kernel sends TCP to a peer's rail address: what its route and its neighbour table say.
struct NextHop {
  std::string netdev;   ///< interface the route leaves by
  std::string gateway;  ///< router on the way, empty: none
  std::string mac;      ///< neighbour entry of the gateway or the peer; empty: none, or not Ethernet
  std::string error;    ///< there is no such route
};

/// Who answers an ARP request for `target` on a local rail: sample of pair.reach, one per ordered question.
struct ReachAnswer {
  std::string from, from_rail;    ///< asker and the rail interface it asked on
  std::string to, to_rail;        ///< whose address was asked for
  std::vector<std::string> macs;  ///< answers, each MAC once; two or more = duplicate address
  std::string error;              ///< could not ask (no CAP_NET_RAW, interface absent)
  bool echo = false;              ///< the smallest echo is answered (to_rail == from_rail only)
  bool full_mtu = false;          ///< a frame of the declared MTU got through (to_rail == from_rail only)
  std::string mtu_error;          ///< why the full-size probe is not known or failed
  NextHop next_hop;               ///< after the echoes (to_rail == from_rail only)
  FrameCount frames;              ///< from → to, all rails of the pair at once (to_rail == from_rail only)
  FrameCount frames_alone;        ///< a longer train, nothing else running on both nodes: suspects only
};
/// Sample of pair.reach: a pair, all rails against all rails, both ways. In JSON a question between different rails that
/// nobody answered is an entry of `silent`; the order of the answers is not kept.
struct ReachSample {
  std::string a, b;
  std::vector<ReachAnswer> answers;
};

nlohmann::json to_json_value(const PairSample& sample);
Result<PairSample> pair_sample_from_json(const nlohmann::json& value);
nlohmann::json to_json_value(const ReachSample& sample);
Result<ReachSample> reach_sample_from_json(const nlohmann::json& value);

}  // namespace fabricgate::fabric
