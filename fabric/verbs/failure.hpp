#pragma once
/// From what a verbs call or a completion says to a cause of results/causes.tsv: both tables stand in failure.cpp,
/// nowhere else.
#include <infiniband/verbs.h>

#include <optional>
#include <string>
#include <string_view>

#include "fabric/verbs/verbs_sample.hpp"

namespace fabricgate::fabric {

/// nullopt: it worked.
using Failed = std::optional<VerbsFailure>;

enum class VerbsCall {
  get_device_list,
  open_device,
  query_device,
  query_port,
  query_gid,
  allocate,
  alloc_pd,
  reg_mr,
  create_cq,
  create_qp,
  to_reset,
  to_init,
  to_rtr,
  to_rts,
  post_send,
  post_recv,
  poll_cq
};
const char* to_string(VerbsCall call);

/// Work completions that a queue pair which failed before gives to all that is still posted.
inline bool is_echo(ibv_wc_status status) {
  return status == IBV_WC_WR_FLUSH_ERR;
}

/// Empty for IBV_WC_SUCCESS; values that are not known today are a fault of the adapter.
std::string_view cause_of(ibv_wc_status status);
/// `code`: a positive errno.
std::string_view cause_of(VerbsCall call, int code);

VerbsFailure call_failure(VerbsCall call, const std::string& object, int code);
VerbsFailure completion_failure(const ibv_wc& wc, const std::string& object);

/// Which of two ends' failures came first: one that only follows from the other's gives way, of two alike it is the
/// first.
const VerbsFailure& first_of(const VerbsFailure& one, const VerbsFailure& other);

}  // namespace fabricgate::fabric
