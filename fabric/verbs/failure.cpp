#include "fabric/verbs/failure.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace fabricgate::fabric {
namespace {

constexpr int any = 0;

struct CallRow {
  VerbsCall call;
  int code;
  std::string_view cause;
};

/// The first row that fits; rdma.call_failed where none does. ENOMEM of what locks memory is looked at apart.
constexpr CallRow calls[] = {
    {VerbsCall::get_device_list, any, "rdma.no_devices"},
    {VerbsCall::open_device, EACCES, "rdma.device_denied"},
    {VerbsCall::open_device, EPERM, "rdma.device_denied"},
    {VerbsCall::open_device, ENOENT, "rdma.device_denied"},  // no /dev/infiniband/uverbs* in this container
    {VerbsCall::open_device, ENODEV, "rdma.device_absent"},
    {VerbsCall::query_port, EINVAL, "rdma.device_absent"},  // no port of that number
    {VerbsCall::query_gid, any, "gid.index_absent"},
    {VerbsCall::alloc_pd, ENOMEM, "rdma.resource_limit"},
    {VerbsCall::allocate, any, "rdma.memory_short"},
    {VerbsCall::create_cq, EINVAL, "rdma.adapter_limit"},
    {VerbsCall::create_qp, EINVAL, "rdma.adapter_limit"},
    {VerbsCall::to_init, EINVAL, "rdma.qp_setup_failed"},
    {VerbsCall::to_rtr, EINVAL, "rdma.qp_setup_failed"},
    {VerbsCall::to_rtr, ETIMEDOUT, "rdma.peer_unresolved"},
    {VerbsCall::to_rtr, EHOSTUNREACH, "rdma.peer_unresolved"},
    {VerbsCall::to_rtr, ENETUNREACH, "rdma.route_absent"},
    {VerbsCall::to_rtr, ENODEV, "gid.index_absent"},
    {VerbsCall::to_rts, EINVAL, "rdma.qp_setup_failed"},
};

bool locks_memory(VerbsCall call) {
  return call == VerbsCall::reg_mr || call == VerbsCall::create_cq || call == VerbsCall::create_qp;
}

bool memlock_is_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

const char* to_string(VerbsCall call) {
  switch (call) {
    case VerbsCall::get_device_list:
      return "ibv_get_device_list";
    case VerbsCall::open_device:
      return "ibv_open_device";
    case VerbsCall::query_device:
      return "ibv_query_device";
    case VerbsCall::query_port:
      return "ibv_query_port";
    case VerbsCall::query_gid:
      return "ibv_query_gid";
    case VerbsCall::allocate:
      return "mmap";
    case VerbsCall::alloc_pd:
      return "ibv_alloc_pd";
    case VerbsCall::reg_mr:
      return "ibv_reg_mr";
    case VerbsCall::create_cq:
      return "ibv_create_cq";
    case VerbsCall::create_qp:
      return "ibv_create_qp";
    case VerbsCall::to_reset:
      return "ibv_modify_qp to RESET";
    case VerbsCall::to_init:
      return "ibv_modify_qp to INIT";
    case VerbsCall::to_rtr:
      return "ibv_modify_qp to RTR";
    case VerbsCall::to_rts:
      return "ibv_modify_qp to RTS";
    case VerbsCall::post_send:
      return "ibv_post_send";
    case VerbsCall::post_recv:
      return "ibv_post_recv";
    case VerbsCall::poll_cq:
      return "ibv_poll_cq";
  }
  return "a verbs call";
}

std::string_view cause_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "";
    // our receives have room for every message we send, so a length that does not fit is that of packets
    case IBV_WC_LOC_LEN_ERR:
      return "mtu.peer_mismatch";
    case IBV_WC_LOC_PROT_ERR:
      return "rdma.local_protection";
    case IBV_WC_WR_FLUSH_ERR:
      return "rdma.flush_only";
    case IBV_WC_REM_INV_REQ_ERR:
      return "rdma.request_invalid";
    case IBV_WC_REM_ACCESS_ERR:
      return "rdma.remote_access";
    case IBV_WC_RETRY_EXC_ERR:
      return "rdma.not_acknowledged";
    case IBV_WC_RESP_TIMEOUT_ERR:
      return "rdma.not_acknowledged";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "rdma.receiver_not_ready";
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
      return "rdma.remote_fault";
    case IBV_WC_LOC_ACCESS_ERR:
      return "rdma.local_protection";
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_EEC_OP_ERR:
    case IBV_WC_MW_BIND_ERR:
    case IBV_WC_BAD_RESP_ERR:
    case IBV_WC_LOC_RDD_VIOL_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
    case IBV_WC_INV_EECN_ERR:
    case IBV_WC_INV_EEC_STATE_ERR:
    case IBV_WC_FATAL_ERR:
    case IBV_WC_GENERAL_ERR:
    default:
      return "rdma.adapter_fault";
  }
}

std::string_view cause_of(VerbsCall call, int code) {
  if (code == ENOMEM && locks_memory(call)) return memlock_is_limited() ? "rdma.memlock_limit" : "rdma.resource_limit";
  for (const auto& row : calls)
    if (row.call == call && (row.code == any || row.code == code)) return row.cause;
  return "rdma.call_failed";
}

VerbsFailure call_failure(VerbsCall call, const std::string& object, int code) {
  return {.cause = std::string(cause_of(call, code)),
          .what = fmt::format("{}, {}: {} ({})", to_string(call), object, std::strerror(code), code),
          .native = code};
}

VerbsFailure completion_failure(const ibv_wc& wc, const std::string& object) {
  return {.cause = std::string(cause_of(wc.status)),
          .what = fmt::format("work completion, {}: {} ({}), vendor error {:#x}", object, ibv_wc_status_str(wc.status),
                              static_cast<int>(wc.status), wc.vendor_err),
          .native = static_cast<int>(wc.status),
          .vendor = wc.vendor_err};
}

const VerbsFailure& first_of(const VerbsFailure& one, const VerbsFailure& other) {
  // a queue pair that broke at one end answers no more, so the other end's requests time out or stand still
  const auto follows = [](const VerbsFailure& failure) {
    if (failure.cause.empty()) return 4;
    if (failure.cause == "rdma.flush_only") return 3;
    if (failure.cause == "rdma.stalled" || failure.cause == "launch.rank_silent") return 2;
    return failure.cause == "rdma.not_acknowledged" || failure.cause == "rdma.receiver_not_ready" ? 1 : 0;
  };
  return follows(other) < follows(one) ? other : one;
}

}  // namespace fabricgate::fabric
