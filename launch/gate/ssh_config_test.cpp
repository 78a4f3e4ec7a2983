#include "launch/gate/ssh_config.hpp"

#include <gmock/gmock.h>

namespace fabricgate::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

Inventory inventory() {
  Inventory out;
  out.ssh.key = "/keys/a key";
  out.ssh.known_hosts = "/keys/known";
  out.nodes.push_back({.name = "n1", .address = "10.0.0.1"});
  out.nodes.push_back({.name = "n2", .address = "10.0.0.2"});
  return out;
}

TEST(SshConfig, EveryNodeIsReachedAtItsManagementAddress) {
  EXPECT_THAT(ssh_config(inventory()), HasSubstr("Host n1\n  HostName 10.0.0.1\nHost n2\n  HostName 10.0.0.2\n"));
}

TEST(SshConfig, UnknownHostKeysAreRefusedAndNothingIsAsked) {
  const std::string text = ssh_config(inventory());
  EXPECT_THAT(text, HasSubstr("StrictHostKeyChecking yes"));
  EXPECT_THAT(text, HasSubstr("BatchMode yes"));
  EXPECT_THAT(text, HasSubstr("UserKnownHostsFile \"/keys/known\""));
}

TEST(SshConfig, AgentIsAskedWhereNoKeyIsGiven) {
  Inventory without = inventory();
  without.ssh.key.clear();
  EXPECT_THAT(ssh_config(without), Not(HasSubstr("IdentitiesOnly")));
}

TEST(Hostfile, NamesComeInTheOrderGiven) { EXPECT_EQ(hostfile({"n2", "n1"}), "n2 slots=1\nn1 slots=1\n"); }

}  // namespace
}  // namespace fabricgate::launch
