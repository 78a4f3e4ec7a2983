#include "inventory/host/fake_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate {
namespace {

using testing::ElementsAre;

TEST(FakeHost, FoldersExistByTheFilesInThem) {
  FakeHost host;
  host.files["/sys/class/net/eth0/mtu"] = "1500\n";
  host.links["/sys/class/net/eth1/device"] = "../../x";
  EXPECT_THAT(*host.list("/sys/class/net"), ElementsAre("eth0", "eth1"));
  EXPECT_TRUE(host.exists("/sys/class"));
  EXPECT_TRUE(host.exists("/sys/class/net/eth1"));
  EXPECT_FALSE(host.exists("/sys/cla"));
}

TEST(FakeHost, EveryAccessIsRecordedInOrder) {
  FakeHost host;
  host.commands["ip link"] = {0, "1: lo", ""};
  EXPECT_TRUE(host.write("/a", "1", 0644));
  EXPECT_EQ(*host.read("/a"), "1");
  EXPECT_EQ(host.run({"ip", "link"}, Deadline::in_seconds(1))->out, "1: lo");
  EXPECT_FALSE(host.run({"ip", "addr"}, Deadline::in_seconds(1)));
  EXPECT_THAT(host.accesses, ElementsAre("write /a", "read /a", "run ip link", "run ip addr"));
}

TEST(FakeHost, AfterTheLastAllowedChangeNothingChangesAnyMore) {
  FakeHost host;
  host.changes_left = 1;
  EXPECT_TRUE(host.write("/a", "1", 0644));
  EXPECT_FALSE(host.write("/b", "1", 0644));
  EXPECT_FALSE(host.remove("/a"));
  EXPECT_TRUE(host.exists("/a"));
  EXPECT_FALSE(host.exists("/b"));
}

}  // namespace
}  // namespace fabricgate
