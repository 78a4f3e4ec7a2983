#pragma once
/// Which interfaces went dark while a collective ran: its own errors name who waited for whom, which in a ring is
/// everybody.
#include <string>
#include <vector>

#include "fabric/pairs/pair_sample.hpp"
#include "results/finding.hpp"

namespace fabricgate::launch {

/// Who is asked: every host with up to four on either side of it, so that the time does not grow with the square of
/// them.
std::vector<std::pair<std::string, std::string>> dark_rail_questions(const std::vector<std::string>& hosts);

/// One finding per interface (host and rail) that answers nobody any more although others on its rail answer one
/// another; none where that cannot be told. Pure.
std::vector<Finding> dark_rails(const std::vector<std::string>& hosts, const std::vector<fabric::ReachAnswer>& answers);

}  // namespace fabricgate::launch
