#pragma once
/// The three ways in which verbs calls tell that they failed. Which one it is stands on the call's manual page; nothing
/// else checks a verbs call. `object` says on what: "device rxe0, port 1".
#include <cerrno>
#include <string>

#include "fabric/verbs/failure.hpp"

namespace fabricgate::fabric {

/// ibv_modify_qp, ibv_query_port, ibv_query_device, ibv_post_send, ibv_post_recv: 0, else a positive errno.
[[nodiscard]] inline Failed check_errno_result(VerbsCall call, const std::string& object, int returned) {
  if (returned == 0) return std::nullopt;
  return call_failure(call, object, returned);
}

/// ibv_open_device, ibv_alloc_pd, ibv_reg_mr, ibv_create_cq, ibv_create_qp: a null pointer with errno. Not all
/// providers set errno; then nothing is known.
template <class T>
[[nodiscard]] Failed check_pointer(VerbsCall call, const std::string& object, const T* returned) {
  if (returned != nullptr) return std::nullopt;
  return call_failure(call, object, errno != 0 ? errno : EIO);
}

/// ibv_query_gid, ibv_poll_cq: below 0, errno is not always set.
[[nodiscard]] inline Failed check_minus_one(VerbsCall call, const std::string& object, int returned) {
  if (returned >= 0) return std::nullopt;
  return call_failure(call, object, errno != 0 ? errno : EIO);
}

}  // namespace fabricgate::fabric
