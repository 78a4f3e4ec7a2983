/// RDMA device and port of a rail at the start of a run (link.rdma). Only rails that declare a device are asked for it.
#include "inventory/observe/gid_choice.hpp"
#include "inventory/observe/rdma_text.hpp"
#include "suites/checks/rdma_view.hpp"

namespace fabricgate::suites {
namespace {

void judge_rate(const RdmaView& v, const RdmaRate& rate, const Limit& share, std::vector<Finding>& findings) {
  constexpr int full_width = 4;
  const double needed = *share.low * v.want.rate_bits_per_s;
  if (rate.bits_per_s >= needed) return;
  // The lanes that are up run fast enough: others are missing. An Ethernet port that runs slower was set or negotiated so.
  const bool lanes = v.infiniband() && rate.width < full_width && rate.bits_per_s / rate.width * full_width >= needed;
  findings.push_back(held_against(make_finding(lanes ? "link.width_degraded" : "link.speed_degraded", v.subject,
                                               rate_text(v.want.rate_bits_per_s / 8), v.sample.now.port.rate),
                                  "link.speed_share", share));
}

void judge_roce_gid(const RdmaView& v, const RdmaState& state, std::vector<Finding>& findings) {
  const GidChoice choice = choose_gid(state.gids, v.want.netdev, v.want.address);
  if (const char* cause = cause_of(choice.problem))
    findings.push_back(make_finding(cause, v.subject, "one RoCE v2 GID of " + format_ipv4(v.want.address) + " on " + v.want.netdev, choice.found));
}

/// The prefix of an InfiniBand GID is fe80 by default and says nothing; the port GUID in its second half must be there.
void judge_infiniband_gid(const RdmaView& v, const RdmaState& state, std::vector<Finding>& findings) {
  for (const Gid& gid : state.gids)
    if (gid.index == 0 && gid.gid.size() == 39 && !is_zero_guid(gid.gid.substr(20))) return;
  findings.push_back(make_finding("gid.port_guid_zero", v.subject, "a port GUID in GID 0", state.gids.empty() ? "empty GID table" : state.gids[0].gid));
}

void judge_mtu(const RdmaView& v, const RdmaState& state, std::vector<Finding>& findings) {
  constexpr int small = 1024;
  const int mtu = roce_mtu(state.netdev_mtu);
  if (v.spec->emulated || mtu > small) return;
  findings.push_back(make_finding("mtu.rdma_1024", v.subject, "4096 (interface of at least 4200)",
                                  std::to_string(mtu) + " (interface of " + std::to_string(state.netdev_mtu) + ")"));
}

}  // namespace

Judgement judge_link_rdma(const JudgeContext& context, const Record& record) {
  const auto view = read_rdma_view(context, record);
  return view ? judge_rdma_now(context, record, *view) : unusable(record, view.error().what);
}

Judgement judge_rdma_now(const JudgeContext& context, const Record& record, const RdmaView& view) {
  const RdmaState& now = view.sample.now;
  if (const std::string why = rdma_unreadable(now); !why.empty()) return unusable(record, why);
  const Limit* share = context.limits.find("link.speed_share");
  if (share == nullptr || !share->low) return limit_missing(record, "link.speed_share");
  std::vector<Finding> findings;
  if (now.present && now.software && !view.spec->emulated)
    findings.push_back(make_finding("host.emulation_undeclared", view.subject, "an adapter", view.want.device + " is soft RDMA"));
  if (view.want.vfs > 0) judge_virtual_functions(view, now, findings);
  if (!judge_rdma_port(view, now, findings)) return decide(std::move(findings));
  const auto rate = parse_rdma_rate(now.port.rate);
  if (!rate) return unusable(record, "rate '" + now.port.rate + "' cannot be read");
  // Soft RDMA reports a made-up rate (2.5 Gb/s): the shaped one is measured in the pair tier.
  if (!view.spec->emulated) judge_rate(view, *rate, *share, findings);
  if (view.infiniband()) {
    judge_infiniband_gid(view, now, findings);
  } else {
    if (now.node_type != "RNIC") judge_roce_gid(view, now, findings);  // iWARP goes by address alone
    judge_mtu(view, now, findings);
  }
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
