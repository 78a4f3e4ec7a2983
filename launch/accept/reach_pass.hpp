#pragma once
/// First pass of the pair tier: who answers whom on which rail, and are frames lost where somebody does. Adds
/// pair.reach.
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fabric/pairs/schedule.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/accept/frame_plan.hpp"

namespace fabricgate::launch {

class ReachPass {
 public:
  ReachPass(Coordinator& c, const std::vector<std::string>& hosts) : c_(c), hosts_(hosts) {}

  void run(const fabric::Schedule& schedule);
  /// Nobody answers there: a rail that would only wait for its deadline.
  bool is_silent(const std::string& a, const std::string& b, const std::string& rail) const;

 private:
  using Rounds = std::vector<std::vector<std::pair<std::string, std::string>>>;

  void measure(const Rounds& rounds);
  void ask(const Rounds& rounds, ReachSamples& samples);
  void count(const FrameOrder& order, bool longer, ReachSamples& samples);
  void note_silence(const fabric::ReachAnswer& answer);

  Coordinator& c_;
  const std::vector<std::string>& hosts_;
  std::set<std::tuple<std::string, std::string, std::string>> silent_;
};

}  // namespace fabricgate::launch
