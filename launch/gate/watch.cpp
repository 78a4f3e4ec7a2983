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
  if (!silent_.empty() || never_began_) return true;
  if (ended_s_) return now_() > *ended_s_ + times_.leave_s;
  if (now_() < next_look_s_) return false;
  const bool again_soon = look_at_all() || !compared_;  // one look alone says nothing of what stands still
  compared_ = true;
  if (!again_soon) silence_s_ *= 2;  // a long measurement of healthy ranks is left in peace, more and more so
  next_look_s_ = now_() + (again_soon ? times_.between_s : silence_s_);
  return !silent_.empty() || never_began_;
}

bool JobWatch::look_at_all() {
  const auto looks = look_();
  bool someone_still = false;
  std::int64_t most_beats = 0;
  for (const Look& look : looks)
    if (look.pulse) most_beats = std::max(most_beats, look.pulse->beats);
  for (std::size_t i = 0; i < hosts_.size() && i < looks.size(); ++i) {
    const std::string why = judge(seen_[i], looks[i], most_beats);
    someone_still = someone_still || seen_[i].still > 0;
    if (!why.empty()) silent_[hosts_[i]] = why;
  }
  const bool nobody_began = most_beats == 0 && std::all_of(looks.begin(), looks.end(), [](const Look& look) { return look.reached; });
  if (nobody_began && silent_.size() == hosts_.size()) {  // the launcher's trouble, no node's
    silent_.clear();
    never_began_ = true;
  }
  return someone_still;
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
