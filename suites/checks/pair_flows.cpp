/// The many short TCP connections of a rail: all answered, at both ends, and with segments of the declared size. They
/// are never a matter of load: the kernel accepts a connection whatever its processes do, and sends a lost SYN again.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/round/order.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

/// A frame of the MTU holds an IPv4 header (20 bytes), a TCP header (20) and, as Linux sends them unless told not to,
/// timestamps in every segment (12); other options are those of SYNs alone.
constexpr std::uint64_t headers = 40, options = 12;
/// Linux also holds a segment to half of the peer's first window, which is 64 KiB at most: of an MTU of 65520 (IPoIB in
/// connected mode) no more than this is demanded.
constexpr std::uint64_t most_demanded = 16 << 10;
/// So many connections that needed something sent again are an accident; more are a path that loses.
constexpr std::uint64_t few_late = 2;

std::uint64_t smaller_mtu(const Rail& a, const Rail& b) {
  return static_cast<std::uint64_t>(std::min(a.mtu, b.mtu));
}

struct FlowsView {
  const std::string &from, &to;  ///< who dialled whom
  const std::string& rail;
  const fabric::FlowCount& count;
  std::uint64_t least = 0, most = 0;  ///< segment that must and that can be
};

std::string impossible_count(const FlowsView& v) {
  const fabric::FlowCount& count = v.count;
  const std::uint64_t planned = fabric::RoundOrder().flows;
  if (!count.error.empty()) return "connections were not counted: " + count.error;
  if (count.dialled != planned) return fmt::format("{} connections dialled instead of {}", count.dialled, planned);
  if (count.answered > count.dialled || count.late > count.answered)
    return "more connections answered than dialled, or late than answered";
  if (count.first_lost.empty() == count.lost())
    return "connections answered and the first one lost contradict each other";
  if (count.answered == 0) return "";
  return within(static_cast<double>(count.segment_bytes), 1, static_cast<double>(v.most))
             ? ""
             : "a segment size that cannot be";
}

void judge_direction(const FlowsView& v, std::vector<Finding>& findings) {
  const fabric::FlowCount& count = v.count;
  Subject dialler{.host = v.from, .rail = v.rail, .peer = v.to, .direction = "tx"};
  if (count.dead()) {
    const Subject dialled{.host = v.to, .rail = v.rail, .peer = v.from, .direction = "rx"};
    findings.push_back(make_finding("pair.unreachable", dialled, "TCP connections to it are answered",
                                    fmt::format("none of {}; the first {}", count.dialled, count.first_lost)));
    return;
  }
  if (count.lost())
    findings.push_back(
        make_finding("pair.flows_lost", dialler, fmt::format("each of {} TCP connections is answered", count.dialled),
                     fmt::format("{} never were; the first {}", count.dialled - count.answered, count.first_lost)));
  if (count.late > few_late)
    findings.push_back(make_finding("pair.flows_late", dialler,
                                    fmt::format("at most {} of {} TCP connections that need something sent again", few_late, count.dialled),
                                    std::to_string(count.late)));
  if (count.segment_bytes < v.least)
    findings.push_back(
        make_finding("pair.segment_small", dialler,
                     fmt::format("TCP segments of at least {} bytes, for MTU {}", v.least, v.most + headers),
                     fmt::format("{} bytes", count.segment_bytes)));
}

}  // namespace

std::uint64_t least_segment(const Rail& a, const Rail& b) {
  return std::min(smaller_mtu(a, b) - headers - options, most_demanded);
}

std::string judge_flows(const JudgeContext& context, const fabric::PairSample& sample, std::vector<Finding>& findings) {
  const Rail *a = declared_rail(context.node(sample.a), sample.rail),
             *b = declared_rail(context.node(sample.b), sample.rail);
  if (a == nullptr || b == nullptr) return "the rail is not declared";
  const std::uint64_t least = least_segment(*a, *b), most = smaller_mtu(*a, *b) - headers;
  for (const FlowsView& view : {FlowsView{sample.a, sample.b, sample.rail, sample.flows_a_to_b, least, most},
                                FlowsView{sample.b, sample.a, sample.rail, sample.flows_b_to_a, least, most}}) {
    if (const std::string problem = impossible_count(view); !problem.empty())
      return view.from + " dialling: " + problem;
    judge_direction(view, findings);
  }
  return "";
}

}  // namespace fabricgate::suites
