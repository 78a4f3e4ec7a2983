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

/// Own-rail answers alone; false when the question could not be asked.
bool judge_answer(const fabric::ReachAnswer& answer, std::vector<Finding>& findings) {
  if (!answer.error.empty()) return false;
  const std::set<std::string> macs(answer.macs.begin(), answer.macs.end());
  if (macs.empty())
    findings.push_back(make_finding("pair.unreachable", subject_of(answer), "an answer", "nobody answers"));
  else if (macs.size() > 1)
    findings.push_back(make_finding("launch.duplicate_address", subject_of(answer), "one answer", joined(answer.macs)));
  else if (!answer.full_mtu)
    findings.push_back(make_finding("pair.mtu_path", subject_of(answer), "a frame of the declared MTU arrives",
                                    answer.mtu_error.empty() ? "only small frames do" : answer.mtu_error));
  return true;
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

}  // namespace

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
  std::set<std::pair<std::string, std::string>> open;  // (asker, rail) still without an answer
  const Node* a = context.node(sample->a);
  const Node* b = context.node(sample->b);
  if (a == nullptr || b == nullptr || !a->spec) return unusable(record, "a host is not in the inventory");
  for (const Rail& rail : a->spec->rails) {
    if (declared_rail(b, rail.name) == nullptr) continue;
    open.insert({a->name, rail.name});
    open.insert({b->name, rail.name});
  }
  std::vector<Finding> findings;
  for (const fabric::ReachAnswer& answer : sample->answers) {
    if ((answer.from != a->name || answer.to != b->name) && (answer.from != b->name || answer.to != a->name))
      return unusable(record, "an answer is about another pair");
    if (answer.from_rail != answer.to_rail) continue;
    if (!judge_answer(answer, findings)) return unusable(record, answer.from + " " + answer.from_rail + ": " + answer.error);
    open.erase({answer.from, answer.from_rail});
    if (std::find(counted.begin(), counted.end(), answer.from_rail) == counted.end()) continue;
    if (const std::string reason = judge_loss(answer, *limits, findings); !reason.empty()) return unusable(record, reason);
    if (!findings.empty() && findings.back().cause == "pair.packet_loss")
      findings.back().limit = limit_text("pair.frame_loss", *context.limits.find("pair.frame_loss"));
  }
  if (!open.empty()) return unusable(record, open.begin()->first + " did not ask on " + open.begin()->second);
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
