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
  const JudgeContext& context;
  const fabric::PairSample& sample;
  const std::string &from, &to;  ///< who dialled whom
  const std::string& rail;
  const fabric::FlowCount& count;
  std::uint64_t least = 0, most = 0;  ///< segment that must and that can be
};

/// A burst that did not end was cut, which takes its time.
std::string impossible_bursts(const fabric::FlowCount& count) {
  constexpr double longest = 60;
  if (count.whole + count.blocked > count.answered) return "more bursts than connections";
  if (count.first_blocked.empty() == (count.blocked > 0)) return "bursts and the first one that did not arrive contradict each other";
  const bool timed = within(count.usual_s, 0, longest) && within(count.slowest_s, count.usual_s, longest);
  if (!timed || (count.whole > 0 && count.usual_s <= 0)) return "a time of bursts that cannot be";
  const bool all_ended = count.whole + count.blocked == count.answered;
  return all_ended || count.slowest_s >= fabric::FlowCount::burst_s ? "" : "bursts that did not end, and none that was slow";
}

std::string impossible_count(const FlowsView& v) {
  const fabric::FlowCount& count = v.count;
  const std::uint64_t planned = fabric::RoundOrder().flows;
  if (!count.error.empty()) return "connections were not counted: " + count.error;
  if (count.dialled != planned) return fmt::format("{} connections dialled instead of {}", count.dialled, planned);
  if (count.answered > count.dialled || count.late > count.answered)
    return "more connections answered than dialled, or late than answered";
  if (count.first_lost.empty() == count.lost())
    return "connections answered and the first one lost contradict each other";
  if (const std::string problem = impossible_bursts(count); !problem.empty()) return problem;
  if (count.answered == 0) return "";
  return within(static_cast<double>(count.segment_bytes), 1, static_cast<double>(v.most))
             ? ""
             : "a segment size that cannot be";
}

void judge_late(const FlowsView& v, const Subject& dialler, std::vector<Finding>& findings) {
  const fabric::FlowCount& count = v.count;
  const bool too_many = too_many_late(v.context.limits, count).has_value();
  if (!too_many && count.late <= few_late) return;
  const Limit& share = *v.context.limits.find("pair.late_share");
  Finding finding =
      make_finding("pair.flows_late", dialler,
                   fmt::format("at most {} of {} TCP connections that need something sent again",
                               too_many ? percent_text(*share.high) : std::to_string(few_late), count.dialled),
                   std::to_string(count.late));
  finding.verdict = Verdict::warn;
  findings.push_back(too_many ? settled(v.sample, held_against(std::move(finding), "pair.late_share", share)) : finding);
}

void judge_bursts(const FlowsView& v, const Subject& dialler, std::vector<Finding>& findings) {
  if (!too_slow(v.context.limits, v.count)) return;
  const Limit& ratio = *v.context.limits.find("pair.burst_ratio");
  Finding finding = make_finding(
      "pair.flow_slow", dialler,
      fmt::format("a burst on each TCP connection takes at most {}, {:g} times what is usual",
                  time_text(*ratio.high * v.count.usual_s), *ratio.high),
      fmt::format("{} on the slowest, repeated", time_text(v.count.slowest_s)));
  findings.push_back(settled(v.sample, held_against(std::move(finding), "pair.burst_ratio", ratio)));
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
  if (count.blocked > 0)
    findings.push_back(make_finding("pair.mtu_path", dialler, fmt::format("full-size segments pass on each of {} TCP connections", count.answered),
                                    fmt::format("{} carry small packets alone; the first {}", count.blocked, count.first_blocked)));
  judge_late(v, dialler, findings);
  judge_bursts(v, dialler, findings);
  if (count.segment_bytes < v.least)
    findings.push_back(
        make_finding("pair.segment_small", dialler,
                     fmt::format("TCP segments of at least {} bytes, for MTU {}", v.least, v.most + headers),
                     fmt::format("{} bytes", count.segment_bytes)));
}

}  // namespace

std::optional<double> too_many_late(const Limits& limits, const fabric::FlowCount& count) {
  const Limit* share = limits.find("pair.late_share");
  if (share == nullptr || !share->high || count.dialled == 0) return {};
  const double late = static_cast<double>(count.late) / static_cast<double>(count.dialled);
  return late > *share->high ? std::optional(late) : std::nullopt;
}

std::optional<double> too_slow(const Limits& limits, const fabric::FlowCount& count) {
  const Limit *ratio = limits.find("pair.burst_ratio"), *time = limits.find("pair.burst_time");
  if (ratio == nullptr || !ratio->high || time == nullptr || !time->high || count.usual_s <= 0) return {};
  const double times = count.slowest_s / count.usual_s;
  return times > *ratio->high && count.slowest_s > *time->high ? std::optional(times) : std::nullopt;
}

std::string missing_flow_limit(const Limits& limits) {
  for (const char* metric : {"pair.late_share", "pair.burst_ratio", "pair.burst_time", "pair.longest_gap"})
    if (const Limit* limit = limits.find(metric); limit == nullptr || !limit->high) return metric;
  return "";
}

std::uint64_t least_segment(const Rail& a, const Rail& b) {
  return std::min(smaller_mtu(a, b) - headers - options, most_demanded);
}

std::string judge_flows(const JudgeContext& context, const fabric::PairSample& sample, std::vector<Finding>& findings) {
  const Rail *a = declared_rail(context.node(sample.a), sample.rail),
             *b = declared_rail(context.node(sample.b), sample.rail);
  if (a == nullptr || b == nullptr) return "the rail is not declared";
  const std::uint64_t least = least_segment(*a, *b), most = smaller_mtu(*a, *b) - headers;
  for (const FlowsView& view : {FlowsView{context, sample, sample.a, sample.b, sample.rail, sample.flows_a_to_b, least, most},
                                FlowsView{context, sample, sample.b, sample.a, sample.rail, sample.flows_b_to_a, least, most}}) {
    if (const std::string problem = impossible_count(view); !problem.empty())
      return view.from + " dialling: " + problem;
    judge_direction(view, findings);
  }
  return "";
}

}  // namespace fabricgate::suites
