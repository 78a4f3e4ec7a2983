#include "fabric/tcp/tcp_count.hpp"

#include <gtest/gtest.h>

#include "fabric/tcp/tcp_connect.hpp"

#include <unistd.h>

namespace fabricgate::fabric {
namespace {

TEST(TcpCount, CountsTheSegmentsBetweenTwoAddressesAlone) {
  const auto limit = Deadline::in_seconds(5);
  auto listener = tcp_listen("127.0.0.2").value();
  const Socket out = tcp_connect("127.0.0.3", "127.0.0.2", listener.port, limit).value();
  const Socket in = tcp_accept(listener, "127.0.0.3", limit).value();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(::write(out.fd(), "x", 1), 1);
    char byte = 0;
    while (::read(in.fd(), &byte, 1) != 1 && !limit.passed()) {
    }
  }
  EXPECT_EQ(count_tcp("127.0.0.3", "127.0.0.2").segments, 3u);
  EXPECT_EQ(count_tcp("127.0.0.3", "127.0.0.2").retransmitted, 0u);
  EXPECT_EQ(count_tcp("127.0.0.2", "127.0.0.3").segments, 0u) << "the other end sent nothing";
  EXPECT_EQ(count_tcp("127.0.0.3", "127.0.0.4").segments, 0u);
  EXPECT_EQ(count_tcp("nonsense", "127.0.0.2").segments, 0u);
}

}  // namespace
}  // namespace fabricgate::fabric
