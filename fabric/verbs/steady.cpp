#include "fabric/verbs/steady.hpp"

namespace fabricgate::fabric {

SteadyPart::SteadyPart(const SteadyLimits& limits, const SteadyMark& start) : limits_(limits), begin_(start) {
  const bool timed = limits.to_messages == 0;
  begun_ = timed ? limits.margin_s <= 0 : limits.from_messages == 0;
  if (!timed) next_ = begun_ ? limits.to_messages : limits.from_messages;
  due_s_ = start.time_s + (begun_ ? limits.seconds : limits.margin_s);
}

void SteadyPart::take(const SteadyMark& now) {
  const bool timed = limits_.to_messages == 0;
  if (!begun_) {
    begin_ = now;
    begun_ = true;
    if (!timed) next_ = limits_.to_messages;
    due_s_ = now.time_s + limits_.seconds;
  } else if (!ended_) {
    end_ = now;
    ended_ = true;
    if (!timed) next_ = ~std::uint64_t{0};
    due_s_ = now.time_s + limits_.margin_s;
  } else {
    over_ = true;
  }
}

}  // namespace fabricgate::fabric
