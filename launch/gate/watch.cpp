#include "launch/gate/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricgate::launch {

JobWatch::JobWatch(std::vector<std::string> hosts, std::function<double()> now, std::function<std::vector<Look>()> look, WatchTimes times)
    : hosts_(std::move(hosts)),
      now_(std::move(now)),
      look_(std::move(look)),
      times_(times),
      seen_(hosts_.size()),
      began_s_(now_()),
      next_look_s_(began_s_ + times.silence_s),
      silence_s_(times.silence_s) {}

void JobWatch::heard() {
  silence_s_ = times_.silence_s;
  compared_ = false;
  next_look_s_ = now_() + silence_s_;
  for (Seen& seen : seen_) seen.still = 0;
}

void JobWatch::ended() {
  if (!ended_s_) ended_s_ = now_();
}

bool JobWatch::give_up() {
  if (!given_up_.empty() || !never_began_.empty()) return true;
  if (ended_s_) return now_() > *ended_s_ + times_.leave_s;
  if (now_() < next_look_s_) return false;
  const bool again_soon = look_at_all() || !compared_;  // one look alone says nothing of what stands still
  compared_ = true;
  if (!again_soon) silence_s_ *= 2;  // a long measurement of healthy ranks is left in peace, more and more so
  next_look_s_ = now_() + (again_soon ? times_.between_s : silence_s_);
  return !given_up_.empty() || !never_began_.empty();
}

bool JobWatch::look_at_all() {
  const auto looks = look_();
  bool someone_still = false;
  nobody_reached_ = looks.size() > 1 && std::none_of(looks.begin(), looks.end(), [](const Look& look) { return look.reached; });
  std::int64_t most_beats = 0;
  for (const Look& look : looks)
    if (look.pulse) most_beats = std::max(most_beats, look.pulse->beats);
  for (std::size_t i = 0; i < hosts_.size() && i < looks.size(); ++i) {
    const std::string why = judge(seen_[i], looks[i], most_beats);
    someone_still = someone_still || seen_[i].still > 0;
    if (!why.empty()) given_up_[hosts_[i]] = make_finding("launch.rank_silent", {.host = hosts_[i]}, "a process that lives until the end of its job", why);
  }
  const bool nobody_began = most_beats == 0 && std::all_of(looks.begin(), looks.end(), [](const Look& look) { return look.reached; });
  if (nobody_began) judge_starts(looks);
  return someone_still;
}

/// No process has begun anywhere, and the launcher waits for the daemon of every node. The head is reached by one of them, so
/// that those which are troubled look after look are at fault; or by none, which is the launcher's trouble.
void JobWatch::judge_starts(const std::vector<Look>& looks) {
  const bool late = !given_up_.empty();
  const double waited_s = late ? now_() - began_s_ : 0;
  given_up_.clear();
  std::size_t troubled = 0;
  for (std::size_t i = 0; i < hosts_.size() && i < looks.size(); ++i) {
    Seen& seen = seen_[i];
    const auto trouble = start_trouble(hosts_[i], looks[i].daemon.value_or(DaemonReading{}), started_.count(hosts_[i]) > 0, waited_s);
    const bool same = trouble && seen.trouble && trouble->cause == seen.trouble->cause;
    seen.troubled = !trouble ? 0 : same ? seen.troubled + 1 : 1;
    seen.trouble = trouble;
    if (!trouble || (seen.troubled < times_.looks && !late)) continue;
    given_up_[hosts_[i]] = *trouble;
    ++troubled;
  }
  const bool one_came_through = std::any_of(looks.begin(), looks.end(), [](const Look& look) { return look.daemon && look.daemon->connected; });
  if (one_came_through && (troubled > 0 || !late)) return;
  given_up_.clear();
  if (late || troubled == hosts_.size())
    never_began_ = "the launcher started no process on any node" + (one_came_through || troubled == 0 ? "" : "; " + hosts_[0] + ": " + seen_[0].trouble->found);
}

/// Why the node is given up, empty while it is not.
std::string JobWatch::judge(Seen& seen, const Look& look, std::int64_t most_beats) const {
  const std::int64_t beats = look.pulse ? look.pulse->beats : 0;
  if (beats > seen.beats) {
    seen = {.beats = beats, .still = 0};
    return "";
  }
  ++seen.still;
  if (seen.still < times_.looks) return "";
  if (!look.reached) return "the node does not answer over SSH: " + look.why;
  if (!look.pulse)
    return now_() < began_s_ + times_.start_s && most_beats < times_.after_others
               ? ""
               : fmt::format("no process of the job has begun on the node in {:.0f} s", now_() - began_s_);
  const char* meaning = look.pulse->state == 'T' ? " (stopped by a signal)" : look.pulse->state == 'D' ? " (waits in the kernel)" : "";
  if (look.pulse->state == '?') return fmt::format("process {} is gone, last heard of in '{}'", look.pulse->pid, look.pulse->phase);
  return fmt::format("process {} stands still in '{}', state {}{}", look.pulse->pid, look.pulse->phase, look.pulse->state, meaning);
}

}  // namespace fabricgate::launch
