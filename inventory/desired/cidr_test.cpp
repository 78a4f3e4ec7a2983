#include <gtest/gtest.h>

#include "inventory/inventory.hpp"

namespace fabricgate {
namespace {

TEST(Ipv4, reads_an_address_and_writes_it_back) {
  for (const char* text : {"0.0.0.0", "10.20.0.1", "255.255.255.255"}) {
    const auto ip = parse_ipv4(text);
    ASSERT_TRUE(ip) << text;
    EXPECT_EQ(format_ipv4(*ip), text);
  }
  EXPECT_EQ(*parse_ipv4("1.2.3.4"), 0x01020304u);
}

TEST(Ipv4, refuses_everything_that_is_not_four_plain_decimal_parts) {
  for (const char* text :
       {"", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ", "1..3.4", "a.b.c.d", "::1"}) {
    const auto ip = parse_ipv4(text);
    ASSERT_FALSE(ip) << text;
    EXPECT_EQ(ip.error().kind, ErrorKind::parse);
    EXPECT_NE(ip.error().what.find(text), std::string::npos);
  }
}

TEST(Cidr, knows_its_mask_and_members) {
  const auto cidr = parse_cidr("172.16.0.0/12");
  ASSERT_TRUE(cidr);
  EXPECT_EQ(format_cidr(*cidr), "172.16.0.0/12");
  EXPECT_TRUE(cidr->contains(*parse_ipv4("172.31.255.255")));
  EXPECT_FALSE(cidr->contains(*parse_ipv4("172.32.0.0")));
  EXPECT_TRUE(parse_cidr("0.0.0.0/0")->contains(*parse_ipv4("8.8.8.8")));
}

TEST(Cidr, refuses_a_missing_or_impossible_prefix) {
  for (const char* text : {"10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0/8", "/8", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(parse_cidr(text)) << text;
  }
}

}  // namespace
}  // namespace fabricgate
