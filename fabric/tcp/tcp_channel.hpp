#pragma once
/// A Channel over one TCP connection: the overlay baseline on the management network. Messages are framed with their
/// lane and length; a message whose receive is not posted yet waits in the kernel.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "fabric/channel.hpp"
#include "fabric/tcp/tcp_connect.hpp"

namespace fabricgate::fabric {

class TcpChannel final : public Channel {
 public:
  explicit TcpChannel(Socket socket) : socket_(std::move(socket)) {}

  Status send(Lane lane, const void* data, std::size_t bytes, Transfer& transfer) override;
  Status receive(Lane lane, void* data, std::size_t bytes, Transfer& transfer) override;
  Status progress(Patience patience) override;

 private:
  /// Both ends are of one build and one byte order.
  struct Header {
    std::uint64_t lane = 0, bytes = 0;
  };
  struct Outgoing {
    Header header;
    const std::byte* data;
    std::size_t written;  ///< header included
    Transfer* transfer;
  };
  struct Incoming {
    std::byte* data;
    Transfer* transfer;
  };

  bool write_some();  ///< true when something moved; failures end up in failure_
  bool read_some();
  bool read_header();
  bool read_body();
  bool next_receive();  ///< finds where the message of header_ goes; false when nothing is posted yet
  Status wait(Patience patience);
  void fail(const std::string& what, int code);

  Socket socket_;
  std::deque<Outgoing> outgoing_;
  std::array<std::deque<Incoming>, 3> incoming_;  ///< by lane
  Header header_;
  std::size_t header_read_ = 0, body_read_ = 0;
  std::optional<Incoming> current_;
  Status failure_;
};

}  // namespace fabricgate::fabric
