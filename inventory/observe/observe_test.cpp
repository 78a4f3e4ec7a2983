#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/host/fake_host.hpp"
#include "inventory/host/real_host.hpp"
#include "inventory/observe/readers.hpp"
#include "inventory/observe/software.hpp"

namespace fabricgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// Synthetic: sysfs of one PCI function.
void add_pci(FakeHost& host, const std::string& address, const std::string& path,
             const std::map<std::string, std::string>& attributes) {
  host.links["/sys/bus/pci/devices/" + address] = "../../../devices/pci0000:00/" + path;
  for (const auto& [name, value] : attributes)
    host.files["/sys/bus/pci/devices/" + address + "/" + name] = value + "\n";
}

/// Synthetic: a root port at x8, below it a switch port and an adapter at x16, one VF of it, a GPU, a disk controller.
FakeHost gpu_machine() {
  FakeHost host;
  const std::string root = "0000:00:01.0", bridge = "0000:17:00.0", nic = "0000:18:00.0";
  add_pci(host, root, root,
          {{"class", "0x060400"}, {"vendor", "0x8086"}, {"max_link_speed", "32.0 GT/s PCIe"}, {"max_link_width", "8"}});
  add_pci(
      host, bridge, root + "/" + bridge,
      {{"class", "0x060400"}, {"vendor", "0x1000"}, {"max_link_speed", "16.0 GT/s PCIe"}, {"max_link_width", "16"}});
  add_pci(host, nic, root + "/" + bridge + "/" + nic,
          {{"class", "0x020700"},
           {"vendor", "0x15b3"},
           {"device", "0x1021"},
           {"current_link_speed", "16.0 GT/s PCIe"},
           {"current_link_width", "8"},
           {"max_link_speed", "32.0 GT/s PCIe"},
           {"max_link_width", "16"},
           {"numa_node", "1"},
           {"sriov_totalvfs", "16"},
           {"sriov_numvfs", "1"}});
  host.links["/sys/bus/pci/devices/" + nic + "/driver"] = "../../../../bus/pci/drivers/mlx5_core";
  add_pci(host, "0000:18:00.1", root + "/" + bridge + "/0000:18:00.1",
          {{"class", "0x020700"}, {"vendor", "0x15b3"}, {"max_link_speed", "Unknown"}, {"max_link_width", "0"}});
  host.links["/sys/bus/pci/devices/0000:18:00.1/physfn"] = "../" + nic;
  add_pci(host, "0000:3b:00.0", "0000:3b:00.0", {{"class", "0x030200"}, {"vendor", "0x10de"}});
  add_pci(host, "0000:00:1f.0", "0000:00:1f.0", {{"class", "0x010601"}, {"vendor", "0x8086"}});
  return host;
}

TEST(Observe, ThePathIsAsNarrowAsItsNarrowestHop) {
  FakeHost host = gpu_machine();
  readers::Unread unread;
  const auto devices = readers::read_pci(host, unread);
  ASSERT_EQ(devices.size(), 5u) << "bridges, adapter, VF and GPU, not the disk";
  const PciDevice& nic = devices[2];
  EXPECT_EQ(nic.address, "0000:18:00.0");
  EXPECT_EQ(nic.max_link_width, "16");
  EXPECT_EQ(nic.path_width, "8");
  EXPECT_EQ(nic.path_speed, "16.0 GT/s PCIe");
  EXPECT_EQ(nic.driver, "mlx5_core");
  EXPECT_EQ(nic.numa_node, 1);
  EXPECT_EQ(nic.vfs_total, 16);
  EXPECT_EQ(nic.vfs, 1);
  EXPECT_THAT(unread, IsEmpty());
}

TEST(Observe, AVirtualFunctionNamesItsPhysicalOneAndDoesNotNarrowThePath) {
  FakeHost host = gpu_machine();
  readers::Unread unread;
  const auto devices = readers::read_pci(host, unread);
  EXPECT_EQ(devices.at(3).physical_function, "0000:18:00.0");
  EXPECT_EQ(devices.at(3).path_width, "8");
}

/// Synthetic: one interface behind an auxiliary device.
void add_netdev(FakeHost& host, const std::string& name) {
  const std::string folder = "/sys/class/net/" + name;
  host.links[folder] = "../../devices/pci0000:00/0000:00:03.0/virtio2/net/" + name;
  host.links[folder + "/device/driver"] = "../../../bus/virtio/drivers/virtio_net";
  for (const auto& [file, value] : std::map<std::string, std::string>{{"address", "02:00:00:00:00:01"},
                                                                      {"operstate", "up"},
                                                                      {"flags", "0x1003"},
                                                                      {"carrier", "1"},
                                                                      {"speed", "-1"},
                                                                      {"mtu", "9000"},
                                                                      {"carrier_changes", "2"},
                                                                      {"statistics/rx_errors", "5"},
                                                                      {"statistics/tx_bytes", "77"}})
    host.files[folder + "/" + file] = value + "\n";
}

TEST(Observe, AnInterfaceWithItsFunctionAddressesAndCounters) {
  FakeHost host;
  add_netdev(host, "ens3");
  host.files["/sys/class/net/bonding_masters"] = "\n";
  host.interface_addresses = {
      {"lo", "127.0.0.1", 8}, {"ens3", "10.0.0.2", 24}, {"ens3", "fe80::1", 64}, {"ens3", "10.0.0.3", 24}};
  readers::Unread unread;
  const auto netdevs = readers::read_netdevs(host, unread);
  ASSERT_EQ(netdevs.size(), 1u) << "bonding_masters is a file, not an interface";
  EXPECT_EQ(netdevs[0].pci, "0000:00:03.0");
  EXPECT_EQ(netdevs[0].driver, "virtio_net");
  EXPECT_TRUE(netdevs[0].admin_up);
  EXPECT_TRUE(netdevs[0].carrier);
  EXPECT_EQ(netdevs[0].speed_mbps, -1);
  EXPECT_EQ(netdevs[0].mtu, 9000);
  EXPECT_THAT(netdevs[0].addresses, ElementsAre("10.0.0.2/24", "10.0.0.3/24"));
  EXPECT_THAT(netdevs[0].counters, ElementsAre(Pair("rx_errors", 5), Pair("tx_bytes", 77)));
}

TEST(Observe, AnInterfaceWithNoDeviceBelowItIsMadeBySoftwareWhateverItIsCalled) {
  FakeHost host;
  add_netdev(host, "ens3");
  for (const char* name : {"rail0", "bond0", "vlan7", "vlan8", "loop1", "loop2"}) host.files["/sys/class/net/" + std::string(name) + "/flags"] = "0x1003\n";
  host.files["/sys/class/net/bond0/lower_ens3/flags"] = host.files["/sys/class/net/vlan7/lower_bond0/flags"] =
      host.files["/sys/class/net/vlan8/lower_rail0/flags"] = host.files["/sys/class/net/loop1/lower_loop2/flags"] =
          host.files["/sys/class/net/loop2/lower_loop1/flags"] = "0x1003\n";
  readers::Unread unread;
  std::map<std::string, bool> software;
  for (const Netdev& netdev : readers::read_netdevs(host, unread)) software[netdev.name] = made_by_software(netdev);
  EXPECT_THAT(software, ElementsAre(Pair("bond0", false), Pair("ens3", false), Pair("loop1", true), Pair("loop2", true), Pair("rail0", true),
                                    Pair("vlan7", false), Pair("vlan8", true)));
}

TEST(Observe, RdmaPortsCarryStateWordsAndBothKindsOfCounters) {
  FakeHost host;
  const std::string device = "/sys/class/infiniband/mlx5_0", port = device + "/ports/1";
  host.files = {{device + "/node_guid", "b859:9f03:0000:0001\n"},
                {port + "/state", "4: ACTIVE\n"},
                {port + "/phys_state", "5: LinkUp\n"},
                {port + "/rate", "400 Gb/sec (4X NDR)\n"},
                {port + "/link_layer", "InfiniBand\n"},
                {port + "/lid", "0x1f\n"},
                {port + "/sm_lid", "0x1\n"},
                {port + "/counters/symbol_error", "9\n"},
                {port + "/hw_counters/out_of_sequence", "3\n"},
                {port + "/gid_attrs/ndevs/0", "ibs1\n"}};
  const auto ports = readers::read_rdma_ports(host);
  ASSERT_EQ(ports.size(), 1u);
  EXPECT_EQ(ports[0].state, "ACTIVE");
  EXPECT_EQ(ports[0].phys_state, "LinkUp");
  EXPECT_EQ(ports[0].lid, 31);
  EXPECT_EQ(ports[0].netdev, "ibs1");
  EXPECT_THAT(ports[0].counters, ElementsAre(Pair("out_of_sequence", 3), Pair("symbol_error", 9)));
}

TEST(Observe, TheSshInterfaceIsFoundThroughTheParentsWhereSudoDroppedTheEnvironment) {
  FakeHost host;
  host.files = {{"/proc/self/environ", std::string("PATH=/bin\0", 10)},
                {"/proc/self/stat", "50 (agent) S 40 1 1"},
                {"/proc/40/environ", std::string("SSH_CONNECTION=10.1.1.9 555 10.1.1.2 22\0", 40)}};
  host.interface_addresses = {{"ens3", "10.0.0.2", 24}, {"eno1", "10.1.1.2", 24}};
  EXPECT_EQ(readers::read_ssh_interface(host), "eno1");
  host.files["/proc/40/environ"] = "";
  EXPECT_EQ(readers::read_ssh_interface(host), "");
}

TEST(Observe, GpuProcessesLeaveOutTheDaemonsAndMonitorsOfTheDriver) {
  FakeHost host;
  host.files = {{"/dev/nvidiactl", ""},
                {"/proc/7/comm", "python3\n"},
                {"/proc/8/comm", "nvidia-persiste\n"},
                {"/proc/9/comm", "bash\n"},
                {"/proc/10/comm", "nvidia-smi\n"},
                {"/proc/uptime", "1"}};
  host.links = {{"/proc/7/fd/3", "/dev/nvidia0"},
                {"/proc/10/fd/9", "/dev/nvidia0"},
                {"/proc/8/fd/3", "/dev/nvidia0"},
                {"/proc/9/fd/0", "/dev/null"},
                {"/proc/9/fd/1", "/dev/nvidiactl"}};
  EXPECT_THAT(readers::read_gpu_processes(host), ElementsAre("7 python3"));
}

TEST(Observe, LaunchersAndTheOtherRanksOfOurJobAreNoGpuUsersTheRanksOfAnotherJobAre) {
  FakeHost host;
  host.files = {{"/dev/nvidiactl", ""}, {"/proc/uptime", "1"}, {"/proc/self/stat", "40 (fabricgate-rank) S 30 40"}};
  const auto process = [&](const std::string& pid, const std::string& name, const std::string& parent) {
    host.files["/proc/" + pid + "/stat"] = pid + " (" + name + ") S " + parent + " 1";
    host.files["/proc/" + pid + "/comm"] = name + "\n";
    host.links["/proc/" + pid + "/fd/3"] = "/dev/nvidia0";
  };
  process("30", "orted", "20");
  process("40", "fabricgate-rank", "30");
  process("41", "fabricgate-rank", "30");
  process("50", "mpirun", "20");
  process("51", "python3", "50");
  EXPECT_THAT(readers::read_gpu_processes(host), ElementsAre("51 python3"));
}

TEST(Observe, WithoutGpuDeviceFilesNoProcessIsLookedAt) {
  FakeHost host;
  host.files["/proc/7/comm"] = "python3\n";
  EXPECT_THAT(readers::read_gpu_processes(host), IsEmpty());
  EXPECT_THAT(host.accesses_of("list /proc"), IsEmpty());
}

TEST(Observe, VersionsComeFromToolsOfTheFirstPrefixAndFromFileNames) {
  FakeHost host;
  host.files = {{"/opt/mpi/bin/mpirun", ""},          {"/usr/bin/ucx_info", ""},
                {"/usr/lib64/libibverbs.so.1", ""},   {"/usr/lib64/libibverbs.so.1.14.44.0", ""},
                {"/usr/lib64/libnccl.so.2.19.3", ""}, {"/sys/module/nvidia/version", "550.54.15\n"}};
  host.commands["/opt/mpi/bin/mpirun --version"] = {0, "mpirun (Open MPI) 5.0.1\n", ""};
  host.commands["/usr/bin/ucx_info -v"] = {0, "# Library version: 1.15.0\n", ""};
  host.commands["getconf GNU_LIBC_VERSION"] = {0, "glibc 2.34\n", ""};
  auto versions = readers::read_versions(host, {"/opt/mpi"}, Deadline::in_seconds(5));
  versions.erase("fabricgate");
  EXPECT_THAT(versions, ElementsAre(Pair("cuda_driver", "550.54.15"), Pair("libc", "2.34"), Pair("nccl", "2.19.3"),
                                    Pair("openmpi", "5.0.1"), Pair("rdma_core", "44.0"), Pair("ucx", "1.15.0")));
}

TEST(Observe, ALinkNameAloneGivesNoVersion) {
  FakeHost host;
  host.files["/usr/lib64/libnccl.so.2"] = "";
  EXPECT_EQ(readers::read_versions(host, {}, Deadline::in_seconds(5)).count("nccl"), 0u);
}

TEST(Observe, SysctlKeysAreAskedForAndBlanksFolded) {
  FakeHost host;
  host.files["/proc/sys/net/ipv4/tcp_rmem"] = "4096\t131072\t6291456\n";
  const Facts facts = observe(host, {.sysctl_keys = {"net.ipv4.tcp_rmem", "net.none"}}, Deadline::in_seconds(5));
  EXPECT_THAT(facts.sysctl, ElementsAre(Pair("net.ipv4.tcp_rmem", "4096 131072 6291456")));
  EXPECT_THAT(facts.unread, testing::Contains(testing::StartsWith("sysctl net.none: ")));
}

TEST(Observe, AnInterfaceNameWithADotIsWrittenWithASlashInSysctlKeys) {
  EXPECT_EQ(readers::sysctl_path("net.ipv4.conf.eth0/100.arp_ignore"), "/proc/sys/net/ipv4/conf/eth0.100/arp_ignore");
}

TEST(Observe, AnEmptyMachineNamesWhatCouldNotBeRead) {
  FakeHost host;
  const Facts facts = observe(host, {}, Deadline::in_seconds(5));
  for (const char* area : {"hostname: ", "kernel: ", "os: ", "memory: ", "memlock: ", "pci: ", "netdevs: ", "routes: "})
    EXPECT_THAT(facts.unread, testing::Contains(testing::StartsWith(area)));
}

TEST(Observe, ThisMachineTellsTheBasics) {
  RealHost host;
  const Facts facts =
      observe(host, {.sysctl_keys = {"kernel.ostype"}, .free_space_paths = {"/"}}, Deadline::in_seconds(30));
  EXPECT_FALSE(facts.hostname.empty());
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_GT(facts.cpus, 0);
  EXPECT_GT(facts.memory_bytes, 0);
  EXPECT_EQ(facts.sysctl.at("kernel.ostype"), "Linux");
  EXPECT_TRUE(facts.free_bytes.count("/"));
  EXPECT_THAT(facts.netdevs, testing::Contains(testing::Field(&Netdev::name, "lo")));
  EXPECT_TRUE(facts_from_json(to_json_value(facts)));
}

}  // namespace
}  // namespace fabricgate
