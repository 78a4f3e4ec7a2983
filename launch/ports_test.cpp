#include "launch/ports.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

namespace fabricgate::launch {
namespace {

/// As the launcher would get them; "" for none.
std::string chosen(const std::string& ports, const std::set<int>& taken) {
  const auto found = choose_ports(*parse_ports(ports), [&](int port) { return taken.count(port) == 0; });
  return found ? std::to_string(found->low) + "-" + std::to_string(found->high) : "";
}

std::set<int> from_to(int low, int high) {
  std::set<int> out;
  for (int port = low; port <= high; ++port) out.insert(port);
  return out;
}

TEST(Ports, TheFirstFreeOnesOfTheLaunchersThirdAreTaken) {
  EXPECT_EQ(chosen("20000-20999", {}), "20000-20015");
  EXPECT_EQ(chosen("20000-20999", from_to(20000, 20015)), "20016-20031") << "a second run of this head";
  EXPECT_EQ(chosen("20000-20999", {20003}), "20004-20019");
}

TEST(Ports, WhereNotSoManyStandTogetherAllOfThePartIsGiven) {
  EXPECT_EQ(chosen("20000-20008", {}), "20000-20002");
  EXPECT_EQ(chosen("20000-20008", {20000, 20001}), "20000-20002");
}

TEST(Ports, WhenAllAreTakenTheRangeIsNamed) {
  const auto found = choose_ports(*parse_ports("20000-20999"), [](int) { return false; });
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("20000-20332"), std::string::npos);
  EXPECT_NE(found.error().what.find("20000-20999"), std::string::npos);
}

TEST(Ports, APortThatSomeoneListensOnIsNotFree) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // one address of the machine is enough
  // below those that the kernel gives to others meanwhile
  for (int port = 20000 + ::getpid() % 10000, tries = 0; tries < 100; ++port, ++tries) {
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) break;
  }
  ASSERT_EQ(::listen(fd, 1), 0);
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size), 0);
  ASSERT_EQ(bound.sin_port, address.sin_port);
  EXPECT_FALSE(port_is_free(ntohs(address.sin_port)));
  ::close(fd);
  EXPECT_TRUE(port_is_free(ntohs(address.sin_port)));
}

TEST(Ports, WhatIsNoRangeIsRefused) {
  EXPECT_FALSE(parse_ports(""));
  EXPECT_FALSE(parse_ports("20999-20000"));
}

}  // namespace
}  // namespace fabricgate::launch
