#include "fabric/tcp/tcp_channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

namespace fabricgate::fabric {
namespace {

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}  // namespace

Status TcpChannel::send(Lane lane, const void* data, std::size_t bytes, Transfer& transfer) {
  if (!failure_) return failure_;
  transfer.state = Transfer::State::busy;
  transfer.bytes = bytes;
  outgoing_.push_back({.header = {.lane = static_cast<std::uint64_t>(lane), .bytes = bytes},
                       .data = static_cast<const std::byte*>(data),
                       .written = 0,
                       .transfer = &transfer});
  while (write_some()) {
  }
  return failure_;
}

Status TcpChannel::receive(Lane lane, void* data, std::size_t bytes, Transfer& transfer) {
  if (!failure_) return failure_;
  transfer.state = Transfer::State::busy;
  transfer.bytes = bytes;
  incoming_[static_cast<std::size_t>(lane)].push_back({.data = static_cast<std::byte*>(data), .transfer = &transfer});
  return {};
}

Status TcpChannel::progress(Patience patience) {
  const bool wrote = write_some();
  const bool read = read_some();
  if (!failure_ || wrote || read) return failure_;
  return wait(patience);
}

bool TcpChannel::write_some() {
  if (outgoing_.empty() || !failure_) return false;
  auto& out = outgoing_.front();
  iovec parts[2];
  std::size_t count = 0;
  if (out.written < sizeof out.header) {
    parts[count++] = {reinterpret_cast<std::byte*>(&out.header) + out.written, sizeof out.header - out.written};
  }
  const std::size_t body = out.written > sizeof out.header ? out.written - sizeof out.header : 0;
  parts[count++] = {const_cast<std::byte*>(out.data) + body, out.header.bytes - body};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  const auto sent = ::sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (!would_block(errno)) fail("send", errno);
    return false;
  }
  out.written += static_cast<std::size_t>(sent);
  if (out.written == sizeof out.header + out.header.bytes) {
    out.transfer->state = Transfer::State::done;
    outgoing_.pop_front();
  }
  return true;
}

bool TcpChannel::read_some() {
  if (!failure_) return false;
  if (header_read_ < sizeof header_) return read_header();
  if (!current_ && !next_receive()) return false;
  return read_body();
}

bool TcpChannel::read_header() {
  const auto got = ::recv(socket_.fd(), reinterpret_cast<std::byte*>(&header_) + header_read_,
                          sizeof header_ - header_read_, MSG_DONTWAIT);
  if (got <= 0) {
    if (got == 0) fail("receive", 0);
    if (got < 0 && !would_block(errno)) fail("receive", errno);
    return false;
  }
  header_read_ += static_cast<std::size_t>(got);
  if (header_read_ == sizeof header_ && (header_.lane == 0 || header_.lane >= incoming_.size())) {
    failure_ = Error{ErrorKind::parse, fmt::format("the connection carried an unknown lane {}", header_.lane)};
  }
  return true;
}

bool TcpChannel::next_receive() {
  auto& posted = incoming_[header_.lane];
  if (posted.empty()) return false;
  current_ = posted.front();
  posted.pop_front();
  body_read_ = 0;
  if (current_->transfer->bytes == header_.bytes) return true;
  current_->transfer->state = Transfer::State::failed;
  current_->transfer->error = fmt::format("{} bytes arrived, {} expected", header_.bytes, current_->transfer->bytes);
  failure_ = Error{ErrorKind::parse, current_->transfer->error};
  return false;
}

bool TcpChannel::read_body() {
  const auto got = ::recv(socket_.fd(), current_->data + body_read_, header_.bytes - body_read_, MSG_DONTWAIT);
  if (got <= 0) {
    if (got == 0) fail("receive", 0);
    if (got < 0 && !would_block(errno)) fail("receive", errno);
    return false;
  }
  body_read_ += static_cast<std::size_t>(got);
  if (body_read_ == header_.bytes) {
    current_->transfer->state = Transfer::State::done;
    current_.reset();
    header_read_ = 0;
  }
  return true;
}

Status TcpChannel::wait(Patience patience) {
  const bool wants_read = header_read_ < sizeof header_ || current_ || !incoming_[header_.lane].empty();
  pollfd wait{.fd = socket_.fd(), .events = 0, .revents = 0};
  if (wants_read) wait.events = static_cast<short>(wait.events | POLLIN);
  if (!outgoing_.empty()) wait.events = static_cast<short>(wait.events | POLLOUT);
  const auto spin_end = Deadline::in_seconds(patience.spin_s);
  int ready = 0;
  do {
    ready = ::poll(&wait, 1, 0);
  } while (ready == 0 && !spin_end.passed());
  if (ready == 0 && patience.sleep_s > 0) ready = ::poll(&wait, 1, static_cast<int>(patience.sleep_s * 1000 + 1));
  if (ready < 0 && errno != EINTR) fail("poll", errno);
  return failure_;
}

void TcpChannel::fail(const std::string& what, int code) {
  if (code == 0) {
    failure_ = Error{ErrorKind::io, what + ": the peer closed the connection"};
  } else {
    failure_ = error_from_errno(what, code);
  }
}

}  // namespace fabricgate::fabric
