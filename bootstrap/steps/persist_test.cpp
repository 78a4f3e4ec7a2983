#include "bootstrap/steps/persist.hpp"

#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::plan_of;

const std::string unit = "/etc/systemd/system/fabricgate-persist.service";

Desired desired() {
  Desired out;
  out.node = "n1";
  out.management_address = "10.0.0.2";
  out.install_dir = "/opt/fabricgate";
  out.spool_dir = "/var/tmp/fabricgate";
  out.sriov_owner = Owner::host;
  out.rails = {{.name = "rail0", .netdev = "e1", .vfs = 1},
               {.name = "rail1", .netdev = "ib-2"},
               {.name = "rail2", .netdev = "e3"}};
  return out;
}

/// networkd owns e3, nobody e1 and ib-2; systemctl works on the files.
std::unique_ptr<FakeHost> machine() {
  auto host = std::make_unique<FakeHost>();
  host->files["/run/systemd/system/x"] = "";
  host->files["/run/systemd/netif/links/3"] = "ADMIN_STATE=configured\n";
  for (const auto& [netdev, index] : {std::pair("e1", "1"), std::pair("ib-2", "2"), std::pair("e3", "3")})
    host->files[std::string("/sys/class/net/") + netdev + "/ifindex"] = index;
  FakeHost* machine = host.get();
  host->changing = [](const auto& a) { return a[0] == "systemctl" && a[1] != "show"; };
  host->on_run = [machine](const auto& a) -> std::optional<CommandResult> {
    if (a[0] != "systemctl") return std::nullopt;
    const std::string link = "/etc/systemd/system/multi-user.target.wants/fabricgate-persist.service";
    if (a[1] == "enable") machine->links[link] = unit;
    if (a[1] == "disable") machine->links.erase(link);
    return CommandResult{0, a[1] == "show" ? "no\n" : "", ""};
  };
  return host;
}

TEST(PersistStep, TheUnitBringsBackVfsAndRailsThatNobodyKeeps) {
  auto host = machine();
  EXPECT_THAT(commands(plan_of(persist_step, desired(), *host)),
              ElementsAre("install -D -m 0644 persisted.json /etc/fabricgate/persisted.json",
                          HasSubstr("install -D -m 0644 /dev/stdin " + unit + " <<'EOF'\n# written by fabricgate"),
                          "systemctl daemon-reload", "systemctl enable fabricgate-persist.service"));
  ASSERT_TRUE(apply_of(persist_step, desired(), *host));
  const auto kept = persisted_from_text(host->files.at(persisted_file));
  ASSERT_TRUE(kept) << kept.error().what;
  EXPECT_THAT(kept->sriov, ElementsAre("rail0"));
  EXPECT_THAT(kept->network, ElementsAre("rail0", "rail1"));
  EXPECT_EQ(fabricgate::to_json_value(kept->desired), fabricgate::to_json_value(desired()));
  EXPECT_EQ(
      host->files.at(unit),
      "# written by fabricgate; changes are overwritten by the next stage\n"
      "[Unit]\nDescription=Virtual functions and rails of this node as fabricgate staged them\n"
      "DefaultDependencies=no\nRequiresMountsFor=/opt/fabricgate /var/tmp/fabricgate\n"
      "Wants=network-pre.target sys-subsystem-net-devices-e1.device sys-subsystem-net-devices-ib\\x2d2.device\n"
      "After=local-fs.target systemd-modules-load.service systemd-udevd.service sys-subsystem-net-devices-e1.device "
      "sys-subsystem-net-devices-ib\\x2d2.device\n"
      "Before=network-pre.target network-online.target shutdown.target\nConflicts=shutdown.target\n\n"
      "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
      "ExecStart=/opt/fabricgate/bin/fabricgate-agent apply-persisted\nTimeoutStartSec=10min\n\n"
      "[Install]\nWantedBy=multi-user.target\n");
}

TEST(PersistStep, ApplyingTwiceChangesNothingTheSecondTime) {
  auto host = machine();
  ASSERT_TRUE(apply_of(persist_step, desired(), *host));
  EXPECT_THAT(commands(plan_of(persist_step, desired(), *host)), IsEmpty());
}

TEST(PersistStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(persist_step, desired(), machine);
}

TEST(PersistStep, WhereSystemdDoesNotRunOrSomebodyElseKeepsThingsNothingIsWritten) {
  auto host = machine();
  host->files.erase("/run/systemd/system/x");
  EXPECT_THAT(commands(plan_of(persist_step, desired(), *host)), IsEmpty());
  auto other = machine();
  Desired wanted = desired();
  wanted.manage.persist = false;
  EXPECT_THAT(commands(plan_of(persist_step, wanted, *other)), IsEmpty());
}

TEST(PersistStep, AnInterfaceOfTheSessionIsNeverTouchedAtBootEither) {
  auto host = machine();
  host->interface_addresses = {{"e1", "10.0.0.2", 24}};
  ASSERT_TRUE(apply_of(persist_step, desired(), *host));
  const auto kept = persisted_from_text(host->files.at(persisted_file));
  EXPECT_THAT(kept->sriov, IsEmpty());
  EXPECT_THAT(kept->network, ElementsAre("rail1"));
  EXPECT_THAT(host->files.at(unit), Not(HasSubstr("devices-e1.device")));
}

TEST(PersistStep, WhatNeedsNoUnitAnyMoreLosesIt) {
  auto host = machine();
  ASSERT_TRUE(apply_of(persist_step, desired(), *host));
  Desired less = desired();
  less.rails.erase(less.rails.begin(), less.rails.begin() + 2);
  EXPECT_THAT(commands(plan_of(persist_step, less, *host)),
              ElementsAre("systemctl disable fabricgate-persist.service", "rm " + unit,
                          "rm /etc/fabricgate/persisted.json", "systemctl daemon-reload"));
  ASSERT_TRUE(apply_of(persist_step, less, *host));
  EXPECT_FALSE(host->exists(unit));
  EXPECT_THAT(commands(plan_of(persist_step, less, *host)), IsEmpty());
}

TEST(Persisted, AFileThatIsNotOursOrCutIsAnError) {
  const std::string good = to_text({.desired = desired()});
  ASSERT_TRUE(persisted_from_text(good));
  for (const std::string& text :
       {std::string(), good.substr(0, good.size() / 2), std::string("{\"schema\":2}"), std::string("[]")})
    EXPECT_FALSE(persisted_from_text(text)) << text;
}

}  // namespace
}  // namespace fabricgate::bootstrap
