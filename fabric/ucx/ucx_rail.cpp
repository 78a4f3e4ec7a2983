#include "fabric/ucx/ucx_rail.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>

#include "fabric/ucx/ucx_log.hpp"
#include "results/handle.hpp"

namespace fabricgate::fabric {
namespace {

Error ucx_error(const std::string& what, ucs_status_t status) {
  const std::string detail = take_last_ucx_message();
  const ErrorKind kind = status == UCS_ERR_NO_DEVICE ? ErrorKind::unavailable : ErrorKind::native;
  return {kind,
          fmt::format("{}: {} ({}){}{}", what, ucs_status_string(status), static_cast<int>(status),
                      detail.empty() ? "" : "; ucx says: ", detail),
          static_cast<int>(status)};
}

ucp_tag_t tag_of(Lane lane, unsigned sender) {
  return static_cast<ucp_tag_t>(lane) << 56 | static_cast<ucp_tag_t>(sender);
}

void finish(Transfer& transfer, ucs_status_t status, std::size_t arrived) {
  transfer.request = nullptr;
  if (status == UCS_OK && arrived == transfer.bytes) {
    transfer.state = Transfer::State::done;
    return;
  }
  transfer.state = Transfer::State::failed;
  transfer.error = status != UCS_OK ? ucs_status_string(status)
                                    : fmt::format("{} bytes arrived, {} expected", arrived, transfer.bytes);
}

void on_sent(void* request, ucs_status_t status, void* transfer) {
  auto& sent = *static_cast<Transfer*>(transfer);
  finish(sent, status, sent.bytes);
  ucp_request_free(request);
}

void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* transfer) {
  finish(*static_cast<Transfer*>(transfer), status, status == UCS_OK ? info->length : 0);
  ucp_request_free(request);
}

}  // namespace

Result<std::unique_ptr<UcxRail>> UcxRail::open(const std::string& netdev) {
  route_ucx_log();
  (void)take_last_ucx_message();
  std::unique_ptr<UcxRail> rail(new UcxRail);
  if (auto started = rail->start(netdev); !started) return started.error();
  if (auto started = rail->start_worker(); !started) return started.error();
  return rail;
}

Status UcxRail::start(const std::string& netdev) {
  netdev_ = netdev;
  ucp_config_t* raw = nullptr;
  if (auto status = ucp_config_read(nullptr, nullptr, &raw); status != UCS_OK) {
    return ucx_error("ucp_config_read", status);
  }
  const Handle<ucp_config_t, ucp_config_release> config(raw);
  // self and shared memory left out: on one machine (lab, test) UCX would measure memory instead of the wire
  for (const auto& [key, value] : {std::pair{"TLS", "tcp"}, std::pair{"NET_DEVICES", netdev.c_str()}}) {
    if (auto status = ucp_config_modify(config.get(), key, value); status != UCS_OK) {
      return ucx_error(fmt::format("ucp_config_modify {}={}", key, value), status);
    }
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  if (auto status = ucp_init(&params, config.get(), &context_); status != UCS_OK) {
    return ucx_error(fmt::format("ucp_init on interface {}", netdev), status);
  }
  return {};
}

Status UcxRail::start_worker() {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // opened and closed by another thread than the one that measures
  if (auto status = ucp_worker_create(context_, &params, &worker_); status != UCS_OK) {
    return ucx_error(fmt::format("ucp_worker_create on interface {}", netdev_), status);
  }
  if (auto status = ucp_worker_get_efd(worker_, &wake_fd_); status != UCS_OK) {
    return ucx_error(fmt::format("ucp_worker_get_efd on interface {}", netdev_), status);
  }
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  if (auto status = ucp_worker_get_address(worker_, &address, &length); status != UCS_OK) {
    return ucx_error(fmt::format("ucp_worker_get_address on interface {}", netdev_), status);
  }
  address_.assign(reinterpret_cast<const char*>(address), length);
  ucp_worker_release_address(worker_, address);
  return {};
}

UcxRail::~UcxRail() {
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

Result<std::unique_ptr<UcxChannel>> UcxRail::connect(const std::string& peer_address, unsigned self, unsigned peer) {
  if (peer_address.empty()) return Error{ErrorKind::parse, "connect: the peer's worker address is empty"};
  std::unique_ptr<UcxChannel> channel(new UcxChannel(*this, self, peer));
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(peer_address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = &UcxChannel::on_error;
  params.err_handler.arg = channel.get();
  if (auto status = ucp_ep_create(worker_, &params, &channel->endpoint_); status != UCS_OK) {
    return ucx_error(fmt::format("ucp_ep_create on interface {}", netdev_), status);
  }
  return channel;
}

Status UcxRail::progress(Patience patience) {
  if (ucp_worker_progress(worker_) != 0) return {};
  const auto spin_end = Deadline::in_seconds(patience.spin_s);
  while (!spin_end.passed()) {
    if (ucp_worker_progress(worker_) != 0) return {};
  }
  if (patience.sleep_s <= 0) return {};
  const auto status = ucp_worker_arm(worker_);
  if (status == UCS_ERR_BUSY) return {};  // something came in meanwhile: the next call finds it
  if (status != UCS_OK) return ucx_error(fmt::format("ucp_worker_arm on interface {}", netdev_), status);
  pollfd wait{.fd = wake_fd_, .events = POLLIN, .revents = 0};
  if (::poll(&wait, 1, static_cast<int>(patience.sleep_s * 1000 + 1)) < 0 && errno != EINTR) {
    return error_from_errno("poll on the worker's event descriptor", errno);
  }
  return {};
}

void UcxChannel::on_error(void* channel, ucp_ep_h, ucs_status_t status) {
  auto& self = *static_cast<UcxChannel*>(channel);
  self.failed_ = status;
  self.failure_ = take_last_ucx_message();
}

Status UcxChannel::state() const {
  if (failed_ == UCS_OK) return {};
  return Error{
      ErrorKind::native,
      fmt::format("the connection over interface {} broke: {} ({}){}{}", rail_.netdev_, ucs_status_string(failed_),
                  static_cast<int>(failed_), failure_.empty() ? "" : "; ucx says: ", failure_),
      static_cast<int>(failed_)};
}

Status UcxChannel::send(Lane lane, const void* data, std::size_t bytes, Transfer& transfer) {
  if (auto ok = state(); !ok) return ok;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = on_sent;
  param.user_data = &transfer;
  transfer.bytes = bytes;
  transfer.state = Transfer::State::busy;
  auto* request = ucp_tag_send_nbx(endpoint_, data, bytes, tag_of(lane, self_), &param);
  if (request == nullptr) {
    transfer.state = Transfer::State::done;
  } else if (UCS_PTR_IS_ERR(request)) {
    transfer.state = Transfer::State::failed;
    return ucx_error(fmt::format("ucp_tag_send_nbx on interface {}", rail_.netdev_), UCS_PTR_STATUS(request));
  } else {
    transfer.request = request;
  }
  return {};
}

Status UcxChannel::receive(Lane lane, void* data, std::size_t bytes, Transfer& transfer) {
  if (auto ok = state(); !ok) return ok;
  ucp_request_param_t param{};
  // always by callback: an immediate completion would have a second place for the length
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = on_received;
  param.user_data = &transfer;
  transfer.bytes = bytes;
  transfer.state = Transfer::State::busy;
  auto* request = ucp_tag_recv_nbx(rail_.worker_, data, bytes, tag_of(lane, peer_), ~ucp_tag_t{0}, &param);
  if (UCS_PTR_IS_ERR(request)) {
    transfer.state = Transfer::State::failed;
    return ucx_error(fmt::format("ucp_tag_recv_nbx on interface {}", rail_.netdev_), UCS_PTR_STATUS(request));
  }
  if (transfer.busy()) transfer.request = request;
  return {};
}

Status UcxChannel::progress(Patience patience) {
  if (auto moved = rail_.progress(patience); !moved) return moved;
  return state();
}

bool UcxChannel::any_busy() const {
  for (const auto& transfer : keep_->transfers) {
    if (transfer.busy()) return true;
  }
  return false;
}

UcxChannel::~UcxChannel() {
  for (auto& transfer : keep_->transfers) {
    if (transfer.busy() && transfer.request != nullptr) ucp_request_cancel(rail_.worker_, transfer.request);
  }
  ucs_status_ptr_t closing = nullptr;
  if (endpoint_ != nullptr) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    closing = ucp_ep_close_nbx(endpoint_, &param);
  }
  const auto closed = [&] { return !UCS_PTR_IS_PTR(closing) || ucp_request_check_status(closing) != UCS_INPROGRESS; };
  const auto deadline = Deadline::in_seconds(1);
  while ((!closed() || any_busy()) && !deadline.passed()) (void)rail_.progress({.spin_s = 0, .sleep_s = 0.005});
  if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
  rail_.kept_.push_back(keep_);
}

}  // namespace fabricgate::fabric
