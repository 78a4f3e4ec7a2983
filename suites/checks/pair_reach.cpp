/// Reachability of two nodes, rail by rail and both ways, and frames lost where it is given. Whether another rail answered (crossed cables) is seen by
/// localisation over all pairs; here only the rail's own answer counts.
#include <algorithm>
#include <set>

#include "fabric/pairs/frame_loss.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

Subject subject_of(const fabric::ReachAnswer& answer) {
  Subject subject;
  subject.host = answer.from;
  subject.peer = answer.to;
  subject.rail = answer.from_rail;
  subject.direction = "tx";
  return subject;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

/// Own-rail answers alone, the first cause of each; a reason when the question could not be asked.
std::string judge_answer(const fabric::ReachAnswer& answer, const Rail& own, std::vector<Finding>& findings) {
  if (!answer.error.empty()) return answer.error;
  if (answer.next_hop.netdev.empty() && answer.next_hop.error.empty()) return "the way of its kernel is not told";
  const std::set<std::string> macs(answer.macs.begin(), answer.macs.end());
  if (macs.empty())
    findings.push_back(make_finding("pair.unreachable", subject_of(answer), "an answer", "nobody answers"));
  else if (macs.size() > 1)
    findings.push_back(make_finding("launch.duplicate_address", subject_of(answer), "one answer", joined(answer.macs)));
  else if (const auto way = wrong_way(answer, own))
    findings.push_back(make_finding(way->by_route ? "pair.wrong_route" : "pair.wrong_neighbour", subject_of(answer), way->expected, way->found));
  else if (!answer.echo && !answer.full_mtu)
    findings.push_back(make_finding("pair.unreachable", subject_of(answer), "an echo", answer.mtu_error.empty() ? "none of any size is answered" : answer.mtu_error));
  else if (!answer.full_mtu)
    findings.push_back(make_finding("pair.mtu_path", subject_of(answer), "a frame of the declared MTU arrives",
                                    answer.mtu_error.empty() ? "only small frames do" : answer.mtu_error));
  return "";
}

Finding inconclusive(Finding finding) {
  finding.verdict = Verdict::inconclusive;
  return finding;
}

/// One direction of a rail that can be counted; a reason when the numbers are no evidence.
std::string judge_loss(const fabric::ReachAnswer& answer, const fabric::LossLimits& limits, std::vector<Finding>& findings) {
  const fabric::Loss loss = fabric::loss_of(answer, limits);
  const std::string most = percent_text(limits.share) + " of frames lost at most";
  using fabric::LossClass;
  switch (loss.result) {
    case LossClass::clean:
      return "";
    case LossClass::seen:
      findings.push_back(make_finding("pair.packet_loss", subject_of(answer), most, loss.text));
      findings.back().verdict = Verdict::warn;
      return "";
    case LossClass::lossy:
      findings.push_back(make_finding("pair.packet_loss", subject_of(answer), most, loss.text));
      return "";
    case LossClass::undecided:
      findings.push_back(inconclusive(make_finding("pair.packet_loss", subject_of(answer), most, loss.text + ", and not counted again")));
      return "";
    case LossClass::wavering:
      findings.push_back(make_finding("pair.inconsistent", subject_of(answer), most, loss.text));
      return "";
    case LossClass::clouded:
      findings.push_back(make_finding("pair.frames_dropped_by_host", subject_of(answer), most, loss.text));
      return "";
    case LossClass::silent:
      findings.push_back(make_finding("pair.frames_filtered", subject_of(answer), "counted frames arrive, as echoes do", loss.text));
      return "";
    case LossClass::unmeasured:
      break;
  }
  return answer.from + " " + answer.from_rail + " to " + answer.to + ": " + loss.text;
}

/// Six octets, or the twenty of IP over InfiniBand.
bool is_mac(const std::string& text) {
  return (text.size() == 17 || text.size() == 59) && text.find_first_not_of("0123456789abcdef:") == std::string::npos;
}

/// Every rail of the one node asks for every rail of the other, both ways: crossed cables show in no other answer.
class Questions {
 public:
  Questions(const Node& a, const Node& b) : a_(a), b_(b), open_(2 * a.spec->rails.size() * b.spec->rails.size(), true) {}

  /// False: nobody is asked this.
  bool close(const fabric::ReachAnswer& answer) {
    const bool forward = answer.from == a_.name;
    const int at_a = place(a_, forward ? answer.from_rail : answer.to_rail), at_b = place(b_, forward ? answer.to_rail : answer.from_rail);
    if (at_a < 0 || at_b < 0) return false;
    open_[2 * (static_cast<std::size_t>(at_a) * b_.spec->rails.size() + static_cast<std::size_t>(at_b)) + (forward ? 0 : 1)] = false;
    return true;
  }

  /// Empty, or a question that nobody has asked.
  std::string left() const {
    const auto found = static_cast<std::size_t>(std::find(open_.begin(), open_.end(), true) - open_.begin());
    if (found == open_.size()) return "";
    const std::string &at_a = a_.spec->rails[found / 2 / b_.spec->rails.size()].name, &at_b = b_.spec->rails[found / 2 % b_.spec->rails.size()].name;
    return found % 2 == 0 ? a_.name + " did not ask on " + at_a + " for " + at_b + " of " + b_.name
                          : b_.name + " did not ask on " + at_b + " for " + at_a + " of " + a_.name;
  }

 private:
  static int place(const Node& node, const std::string& rail) {
    const auto& rails = node.spec->rails;
    const auto found = std::find_if(rails.begin(), rails.end(), [&](const Rail& each) { return each.name == rail; });
    return found == rails.end() ? -1 : static_cast<int>(found - rails.begin());
  }

  const Node &a_, &b_;
  std::vector<bool> open_;
};

}  // namespace

std::optional<WrongWay> wrong_way(const fabric::ReachAnswer& answer, const Rail& own) {
  const fabric::NextHop& hop = answer.next_hop;
  const std::string straight = "TCP leaves through " + own.netdev;
  if (!hop.error.empty()) return WrongWay{true, straight, hop.error};
  if (hop.netdev != own.netdev || !hop.gateway.empty())
    return WrongWay{true, straight, "through " + hop.netdev + (hop.gateway.empty() ? "" : " by " + hop.gateway)};
  const bool untold = hop.mac.empty() || answer.macs.empty();
  if (untold || std::find(answer.macs.begin(), answer.macs.end(), hop.mac) != answer.macs.end()) return {};
  return WrongWay{false, "neighbour entry " + joined(answer.macs) + ", as ARP says", hop.mac};
}

std::optional<fabric::LossLimits> loss_limits(const Limits& limits) {
  const Limit *share = limits.find("pair.frame_loss"), *frames = limits.find("pair.frame_train");
  if (share == nullptr || frames == nullptr || !share->high || !frames->low) return {};
  return fabric::LossLimits{.share = *share->high, .frames = static_cast<std::uint64_t>(*frames->low)};
}

Judgement judge_pair_reach(const JudgeContext& context, const Record& record) {
  if (record.hosts.size() != 2 || record.hosts[0] == record.hosts[1]) return unusable(record, "the record does not name two hosts");
  if (!record.sample.is_object()) return unusable(record, "sample is not an object");
  const auto sample = fabric::reach_sample_from_json(record.sample);
  if (!sample) return unusable(record, sample.error().what);
  if (sample->a != record.hosts[0] || sample->b != record.hosts[1]) return unusable(record, "sample is about another pair");
  const auto limits = loss_limits(context.limits);
  if (!limits) return limit_missing(record, context.limits.find("pair.frame_loss") ? "pair.frame_train" : "pair.frame_loss");
  const std::vector<std::string> counted = fabric::countable_rails(*sample);
  const Node* a = context.node(sample->a);
  const Node* b = context.node(sample->b);
  if (a == nullptr || b == nullptr || !a->spec || !b->spec) return unusable(record, "a host is not in the inventory");
  Questions questions(*a, *b);
  std::string unasked;  // between different rails
  std::vector<Finding> findings;
  for (const fabric::ReachAnswer& answer : sample->answers) {
    if ((answer.from != a->name || answer.to != b->name) && (answer.from != b->name || answer.to != a->name))
      return unusable(record, "an answer is about another pair");
    if (!questions.close(answer)) return unusable(record, answer.from + " asked on a rail that is not declared");
    if (!std::all_of(answer.macs.begin(), answer.macs.end(), is_mac)) return unusable(record, answer.from + " " + answer.from_rail + ": an answer without a MAC");
    if (answer.from_rail != answer.to_rail && !answer.error.empty()) unasked = answer.from + " " + answer.from_rail + ": " + answer.error;
    if (answer.full_mtu && (answer.macs.empty() || !answer.mtu_error.empty())) return unusable(record, answer.from + " " + answer.from_rail + ": a frame of the declared MTU did and did not arrive");
    if (answer.from_rail != answer.to_rail) continue;
    if (answer.full_mtu && !answer.echo) return unusable(record, answer.from + " " + answer.from_rail + ": full frames are answered and small ones are not");
    const Rail* own = declared_rail(answer.from == a->name ? a : b, answer.from_rail);
    if (own == nullptr) continue;  // nothing is demanded of it
    if (const std::string reason = judge_answer(answer, *own, findings); !reason.empty())
      return unusable(record, answer.from + " " + answer.from_rail + ": " + reason);
    if (std::find(counted.begin(), counted.end(), answer.from_rail) == counted.end()) continue;
    if (const std::string reason = judge_loss(answer, *limits, findings); !reason.empty()) return unusable(record, reason);
    if (!findings.empty() && findings.back().cause == "pair.packet_loss")
      findings.back().limit = limit_text("pair.frame_loss", *context.limits.find("pair.frame_loss"));
  }
  if (const std::string left = questions.left(); !left.empty()) return unusable(record, left);
  if (opens_gate(worst(findings)) && !unasked.empty()) return unusable(record, unasked);
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
