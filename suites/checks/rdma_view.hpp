#pragma once
/// What the judges of a rail's RDMA device share. Only for suites/checks.
#include <string>
#include <vector>

#include "fabric/link/rdma_sample.hpp"
#include "inventory/desired/desired.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {

struct RdmaView {
  const NodeClass* spec = nullptr;
  DesiredRail want;
  fabric::RdmaSample sample;
  Subject subject;  ///< host, rail, netdev and device

  bool infiniband() const { return want.link_layer == LinkLayer::infiniband; }
};

/// The declaration and the sample of a record, or why there is none.
Result<RdmaView> read_rdma_view(const JudgeContext& context, const Record& record);

/// What of a port no machine has, or empty.
std::string impossible_port(const RdmaPort& port);

/// Why the state cannot be judged, or empty.
std::string rdma_unreadable(const RdmaState& state);

/// Device, link layer and port state; the first that is wrong explains the rest, and is the only one added. False: one was.
bool judge_rdma_port(const RdmaView& view, const RdmaState& state, std::vector<Finding>& findings);

/// Everything that link.rdma demands of the device as it is now.
Judgement judge_rdma_now(const JudgeContext& context, const Record& record, const RdmaView& view);

/// Number and condition of the declared virtual functions; their condition only where the host owns them: those of an
/// operator may be in pods.
void judge_virtual_functions(const RdmaView& view, const RdmaState& state, std::vector<Finding>& findings);

}  // namespace fabricgate::suites
