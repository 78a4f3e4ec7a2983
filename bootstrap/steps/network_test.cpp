#include "bootstrap/steps/network.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using testing::plan_of;

Desired desired() {
  Desired out;
  out.node = "n1";
  out.management_address = "10.0.0.2";
  out.management = *parse_cidr("10.0.0.0/24");
  out.rails = {{.name = "rail0", .netdev = "e1", .address = *parse_ipv4("172.16.0.2"), .prefix = 24, .mtu = 9000},
               {.name = "rail1", .netdev = "e2", .address = *parse_ipv4("172.17.0.2"), .prefix = 24, .mtu = 9000}};
  return out;
}

/// A machine whose `ip` works on the maps of the fake, as the kernel does: routes follow addresses of interfaces that
/// are up.
class Machine : public FakeHost {
 public:
  Machine() {
    add_link("eth0", "0x1003", "1500");
    add_link("e1", "0x1002", "1500");
    add_link("e2", "0x1002", "1500");
    interface_addresses = {{"lo", "127.0.0.1", 8}, {"eth0", "10.0.0.2", 24}};
    show_routes();
    changing = [](const auto& arguments) { return arguments[0] == "ip"; };
    on_run = [this](const auto& arguments) { return ip(arguments); };
  }

  void add_link(const std::string& name, const std::string& flags, const std::string& mtu) {
    const std::string folder = "/sys/class/net/" + name;
    files[folder + "/flags"] = flags + "\n";
    files[folder + "/mtu"] = mtu + "\n";
    files[folder + "/ifindex"] = "7\n";
  }

  void show_routes() {
    std::string text =
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\neth0 00000000 0100000A 0003 0 0 0 "
        "00000000 0 0 0\n";
    for (const InterfaceAddress& a : interface_addresses)
      if (a.prefix == 24 && files["/sys/class/net/" + a.netdev + "/flags"] == "0x1003\n") {
        std::array<char, 16> hex{};
        std::snprintf(hex.data(), hex.size(), "%08X", __builtin_bswap32(*parse_ipv4(a.address) & 0xffffff00));
        text += a.netdev + " " + hex.data() + " 00000000 0001 0 0 0 00FFFFFF 0 0 0\n";
      }
    files["/proc/net/route"] = text;
  }

 private:
  std::optional<CommandResult> ip(const std::vector<std::string>& a) {
    if (a[0] != "ip") return std::nullopt;
    if (a[1] == "link" && a[5] == "mtu") files["/sys/class/net/" + a[4] + "/mtu"] = a[6] + "\n";
    if (a[1] == "link" && a[5] == "up") files["/sys/class/net/" + a[4] + "/flags"] = "0x1003\n";
    if (a[1] == "addr") {
      const InterfaceAddress address{a[5], a[3].substr(0, a[3].find('/')),
                                     std::atoi(a[3].substr(a[3].find('/') + 1).c_str())};
      std::erase(interface_addresses, address);
      if (a[2] == "replace") interface_addresses.push_back(address);
    }
    show_routes();
    return CommandResult{0, "", ""};
  }
};

std::unique_ptr<FakeHost> machine() {
  return std::make_unique<Machine>();
}

TEST(NetworkStep, ThePlanOfABareMachineIsWhatAPersonWouldType) {
  Machine host;
  const StepPlan plan = plan_of(network_step, desired(), host);
  EXPECT_THAT(commands(plan), ElementsAre("ip link set dev e1 mtu 9000", "ip link set dev e1 up",
                                          "ip addr replace 172.16.0.2/24 dev e1", "ip link set dev e2 mtu 9000",
                                          "ip link set dev e2 up", "ip addr replace 172.17.0.2/24 dev e2",
                                          "# e1: persistence not managed, no network manager owns it",
                                          "# e2: persistence not managed, no network manager owns it"));
  EXPECT_THAT(plan.findings, IsEmpty());
  EXPECT_THAT(host.accesses_of("run ip"), IsEmpty());
}

TEST(NetworkStep, ApplyingTwiceChangesNothingTheSecondTime) {
  Machine host;
  ASSERT_TRUE(apply_of(network_step, desired(), host));
  const StepPlan again = plan_of(network_step, desired(), host);
  EXPECT_THAT(commands(again), IsEmpty());
  EXPECT_THAT(again.findings, IsEmpty());
  EXPECT_FALSE(again.kept) << "no network manager owns the rails";
}

TEST(NetworkStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(network_step, desired(), machine);
  testing::expect_converges_from_any_interruption(network_step, desired(), [] {
    auto host = std::make_unique<Machine>();
    host->files["/sbin/ifup"] = "";
    host->files["/etc/network/interfaces"] = "source /etc/network/interfaces.d/*\n";
    host->interface_addresses.push_back({"e2", "172.16.0.2", 24});
    host->interface_addresses.push_back({"e1", "172.16.0.77", 24});
    return host;
  });
}

TEST(NetworkStep, TheInterfaceOfTheManagementAddressIsNeverTouched) {
  Machine host;
  Desired wanted = desired();
  wanted.rails[0].netdev = "eth0";
  const StepPlan plan = plan_of(network_step, wanted, host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "stage.own_interface");
  EXPECT_EQ(plan.findings[0].verdict, Verdict::blocked);
  EXPECT_EQ(plan.findings[0].subject.netdev, "eth0");
  EXPECT_THAT(commands(plan), Not(Contains(HasSubstr("eth0"))));
  EXPECT_THAT(commands(plan), Contains("ip addr replace 172.17.0.2/24 dev e2")) << "the other rail is done";
}

TEST(NetworkStep, TheInterfaceOfTheSshConnectionIsNeverTouched) {
  Machine host;
  host.interface_addresses.push_back({"e2", "192.168.9.9", 24});
  host.files["/proc/self/environ"] = std::string("SSH_CONNECTION=192.168.9.1 5 192.168.9.9 22\0", 44);
  const StepPlan plan = plan_of(network_step, desired(), host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].subject.netdev, "e2");
  EXPECT_THAT(plan.findings[0].found, HasSubstr("SSH"));
  EXPECT_THAT(commands(plan), Not(Contains(HasSubstr("e2"))));
}

TEST(NetworkStep, AMissingInterfaceIsNamedWithThoseThatExist) {
  Machine host;
  Desired wanted = desired();
  wanted.rails[1].netdev = "e9";
  const StepPlan plan = plan_of(network_step, wanted, host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "link.absent");
  EXPECT_EQ(plan.findings[0].subject.rail, "rail1");
  EXPECT_EQ(plan.findings[0].found, "no e9, only e1, e2, eth0");
}

TEST(NetworkStep, StrayAddressesOfThePoolGoAndOthersStay) {
  Machine host;
  ASSERT_TRUE(apply_of(network_step, desired(), host));
  host.interface_addresses.push_back({"e1", "172.16.0.9", 24});   // a leftover
  host.interface_addresses.push_back({"e2", "172.16.0.2", 24});   // rail0's address on rail1
  host.interface_addresses.push_back({"e1", "192.168.7.1", 24});  // somebody's business
  EXPECT_THAT(commands(plan_of(network_step, desired(), host)),
              ElementsAre("ip addr del 172.16.0.9/24 dev e1", "ip addr del 172.16.0.2/24 dev e2",
                          "ip addr replace 172.16.0.2/24 dev e1", HasSubstr("# e1"), HasSubstr("# e2")));
  ASSERT_TRUE(apply_of(network_step, desired(), host));
  EXPECT_THAT(commands(plan_of(network_step, desired(), host)), IsEmpty());
  EXPECT_THAT(host.interface_addresses, Contains(InterfaceAddress{"e1", "192.168.7.1", 24}));
}

TEST(NetworkStep, RailsThatShareAPoolKeepTheirAddresses) {
  Machine host;
  Desired wanted = desired();
  wanted.rails[1].address = *parse_ipv4("172.16.0.3");
  ASSERT_TRUE(apply_of(network_step, wanted, host));
  EXPECT_THAT(commands(plan_of(network_step, wanted, host)), IsEmpty());
}

TEST(NetworkStep, ARailAddressOnTheManagementInterfaceIsNotRemoved) {
  Machine host;
  host.interface_addresses.push_back({"eth0", "172.16.0.2", 24});
  const StepPlan plan = plan_of(network_step, desired(), host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "stage.own_interface");
  EXPECT_THAT(commands(plan), Not(Contains(HasSubstr("eth0"))));
}

TEST(NetworkStep, ALostRouteIsPutBack) {
  Machine host;
  ASSERT_TRUE(apply_of(network_step, desired(), host));
  host.files["/proc/net/route"] = "e2 000011AC 00000000 0001 0 0 0 00FFFFFF 0 0 0\n";
  EXPECT_THAT(commands(plan_of(network_step, desired(), host)),
              Contains("ip route replace 172.16.0.0/24 dev e1 proto kernel scope link src 172.16.0.2"));
}

TEST(NetworkStep, EachManagerGetsItsOwnKindOfFile) {
  const auto first = [](auto prepare) {
    Machine host;
    prepare(host);
    const auto lines = commands(plan_of(network_step, desired(), host));
    return lines.at(0) + "\n" + lines.at(1);
  };
  EXPECT_THAT(first([](Machine& h) { h.files["/usr/sbin/netplan"] = h.files["/etc/netplan/50-cloud.yaml"] = ""; }),
              HasSubstr("install -D -m 0600 /dev/stdin /etc/netplan/90-fabricgate.yaml <<'EOF'\n# written by "
                        "fabricgate; changes are overwritten by the next stage\n"
                        "network:\n  version: 2\n  ethernets:\n    e1:\n      dhcp4: false\n      dhcp6: false\n      "
                        "mtu: 9000\n      addresses: [172.16.0.2/24]\n    e2:\n"));
  EXPECT_THAT(first([](Machine& h) { h.files["/run/systemd/netif/links/7"] = "ADMIN_STATE=configured\n"; }),
              HasSubstr("10-fabricgate-e1.network <<'EOF'\n# written by fabricgate; changes are overwritten by the "
                        "next stage\n[Match]\nName=e1\n\n[Link]\nMTUBytes=9000\n\n"
                        "[Network]\nDHCP=no\nAddress=172.16.0.2/24\nEOF\nnetworkctl reload"));
  EXPECT_THAT(first([](Machine& h) {
                h.files["/sbin/ifup"] = "";
                h.files["/etc/network/interfaces"] = "source interfaces.d/*";
              }),
              HasSubstr("/etc/network/interfaces.d/fabricgate-e1 <<'EOF'\n# written by fabricgate; changes are "
                        "overwritten by the next stage\nauto e1\n"
                        "iface e1 inet static\n  address 172.16.0.2/24\n  mtu 9000\nEOF"));
  EXPECT_THAT(
      first([](Machine& h) {
        h.files["/run/NetworkManager/x"] = "";
        for (const char* netdev : {"e1", "e2"})
          h.commands["nmcli -g GENERAL.STATE device show " + std::string(netdev)] = {0, "30 (disconnected)\n", ""};
      }),
      HasSubstr("interface-name=e1\nautoconnect=true\nautoconnect-priority=100\n\n[ethernet]\nmtu=9000\n\n[ipv4]"
                "\nmethod=manual\naddress1=172.16.0.2/24\n"));
}

/// Told to reload, networkd configures some looks later, and takes off what others have set until then.
struct NetworkdMachine : Machine {
  std::map<std::string, int> looks;
  bool told = false;

  NetworkdMachine() {
    files["/sys/class/net/e2/ifindex"] = "8\n";
    for (const char* link : {"7", "8"}) files[std::string("/run/systemd/netif/links/") + link] = "ADMIN_STATE=configured\nNETWORK_FILE=/etc/other\n";
    on_run = [this, ip = on_run](const auto& arguments) -> std::optional<CommandResult> {
      if (arguments[0] != "networkctl") return ip(arguments);
      told = true;
      return CommandResult{0, "", ""};
    };
  }
  Result<std::string> read(const std::string& path) override {
    const bool first = path == "/run/systemd/netif/links/7";
    if (told && (first || path == "/run/systemd/netif/links/8") && ++looks[path] == 3) {
      const std::string netdev = first ? "e1" : "e2";
      std::erase_if(interface_addresses, [&](const InterfaceAddress& address) { return address.netdev == netdev; });
      files[path] = "ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/10-fabricgate-" + netdev + ".network\n";
    }
    return Machine::read(path);
  }
};

TEST(NetworkStep, AddressesAreSetAfterNetworkdHasConfiguredTheInterface) {
  NetworkdMachine host;
  EXPECT_THAT(commands(plan_of(network_step, desired(), host)), Contains("# wait until networkd has configured e2"));
  ASSERT_TRUE(apply_of(network_step, desired(), host));
  for (int look = 0; look < 3; ++look)  // time goes on
    for (const char* link : {"7", "8"}) ASSERT_TRUE(host.read(std::string("/run/systemd/netif/links/") + link));
  EXPECT_THAT(host.interface_addresses,
              IsSupersetOf({InterfaceAddress{"e1", "172.16.0.2", 24}, InterfaceAddress{"e2", "172.17.0.2", 24}}));
}

TEST(NetworkStep, AnUnmanagedInterfaceOfNetworkManagerIsNotIts) {
  Machine host;
  host.files["/run/NetworkManager/x"] = "";
  for (const char* netdev : {"e1", "e2"})
    host.commands["nmcli -g GENERAL.STATE device show " + std::string(netdev)] = {0, "10 (unmanaged)\n", ""};
  EXPECT_THAT(commands(plan_of(network_step, desired(), host)), Contains(HasSubstr("persistence not managed")));
}

TEST(NetworkStep, AFailedCommandIsAnErrorAndTheOtherRailIsDone) {
  Machine host;
  auto ip = host.on_run;
  host.on_run = [ip](const auto& a) -> std::optional<CommandResult> {
    if (a[1] == "link" && a[4] == "e1" && a[5] == "mtu")
      return CommandResult{2, "", "RTNETLINK answers: Invalid argument\n"};
    return ip(a);
  };
  auto status = apply_of(network_step, desired(), host);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, "ip link set dev e1 mtu 9000: exit code 2: RTNETLINK answers: Invalid argument");
  EXPECT_EQ(host.files.at("/sys/class/net/e2/mtu"), "9000\n");
}

TEST(NetworkStep, ANameThatIsNoInterfaceIsRefused) {
  for (const char* name : {"", "..", "a/b", "-x", "a b", "0123456789abcdef"}) {
    Machine host;
    Desired wanted = desired();
    wanted.rails[0].netdev = name;
    EXPECT_FALSE(apply_of(network_step, wanted, host)) << name;
  }
}

}  // namespace
}  // namespace fabricgate::bootstrap
