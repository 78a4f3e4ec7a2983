#include "inventory/observe/gid_choice.hpp"

#include <algorithm>

#include "inventory/observe/rdma_text.hpp"

namespace fabricgate {
namespace {

/// A few entries as text; a table may have 256.
std::string listed(const std::vector<Gid>& gids) {
  constexpr std::size_t most = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(gids.size(), most); ++i)
    out += (i == 0 ? "" : "; ") + std::to_string(gids[i].index) + ": " + gids[i].gid + " " + gids[i].type +
           (gids[i].netdev.empty() ? "" : " " + gids[i].netdev);
  if (gids.size() > most) out += "; and " + std::to_string(gids.size() - most) + " more";
  return out;
}

template <class F>
std::vector<Gid> those(const std::vector<Gid>& gids, F keep) {
  std::vector<Gid> out;
  std::copy_if(gids.begin(), gids.end(), std::back_inserter(out), keep);
  return out;
}

}  // namespace

const char* cause_of(GidProblem problem) {
  switch (problem) {
    case GidProblem::none: return nullptr;
    case GidProblem::empty: return "gid.port_guid_zero";
    case GidProblem::link_local: return "gid.link_local";
    case GidProblem::roce_v1: return "gid.roce_v1";
    case GidProblem::ambiguous: return "gid.ambiguous";
    case GidProblem::other_interface:
    case GidProblem::address_missing: return "gid.address_missing";
  }
  return "gid.address_missing";
}

GidChoice choose_gid(const std::vector<Gid>& gids, const std::string& netdev, std::uint32_t address) {
  if (gids.empty()) return {-1, GidProblem::empty, "empty GID table"};
  const auto routable = those(gids, [](const Gid& gid) { return !gid_link_local(gid.gid); });
  if (routable.empty()) return {-1, GidProblem::link_local, listed(gids)};
  const auto ours = those(gids, [&](const Gid& gid) { return gid_ipv4(gid.gid) == address; });
  if (ours.empty()) return {-1, GidProblem::address_missing, listed(routable)};
  const auto v2 = those(ours, [](const Gid& gid) { return gid.type == "RoCE v2"; });
  if (v2.empty()) return {-1, GidProblem::roce_v1, listed(ours)};
  const auto here = those(v2, [&](const Gid& gid) { return gid.netdev == netdev; });
  if (here.empty()) return {-1, GidProblem::other_interface, listed(v2)};
  if (here.size() > 1) return {-1, GidProblem::ambiguous, listed(here)};
  return {here.front().index, GidProblem::none, listed(here)};
}

}  // namespace fabricgate
