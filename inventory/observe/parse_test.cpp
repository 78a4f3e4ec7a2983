#include "inventory/observe/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/file.hpp"

namespace fabricgate::readers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string captured(const std::string& name) {
  return *read_file(std::string(TESTDATA) + "/vm/" + name);
}

TEST(Parse, OsReleaseWithAndWithoutQuotes) {
  EXPECT_EQ(parse_os_release(captured("os-release")).at("VERSION_ID"), "12");
  EXPECT_EQ(parse_os_release(captured("os-release")).at("ID"), "debian");
  EXPECT_EQ(parse_os_release("# c\nID='rhel'\nbroken\nA=\"").at("ID"), "rhel");
}

TEST(Parse, MemoryIsInBytes) {
  EXPECT_EQ(parse_memory_total(captured("meminfo")), std::int64_t{24684084} * 1024);
  EXPECT_EQ(parse_memory_total("MemTotal:"), 0);
}

TEST(Parse, MemlockOfLimitedAndUnlimitedProcesses) {
  const auto limited = parse_memlock(captured("limits"));
  ASSERT_TRUE(limited);
  EXPECT_EQ(limited->soft, 8388608u);
  EXPECT_EQ(limited->hard, 8388608u);
  const auto unlimited =
      parse_memlock("Max locked memory         65536                unlimited            bytes     \n");
  ASSERT_TRUE(unlimited);
  EXPECT_EQ(unlimited->soft, 65536u);
  EXPECT_EQ(unlimited->hard, UINT64_MAX);
  EXPECT_FALSE(parse_memlock("Max locked memory x y bytes"));
  EXPECT_FALSE(parse_memlock(""));
}

TEST(Parse, CpuListsAndModel) {
  EXPECT_EQ(parse_cpu_count("0-3,8,10-11\n"), 7);
  EXPECT_EQ(parse_cpu_count("0"), 1);
  EXPECT_EQ(parse_cpu_count("3-1,x,-"), 0);
  EXPECT_THAT(parse_cpu_model(captured("cpuinfo")), testing::StartsWith("Intel(R) Xeon(R)"));
}

TEST(Parse, RoutesReadLikeThoseOfIp) {
  EXPECT_THAT(parse_routes(captured("route")), ElementsAre("default via 192.0.2.1 dev eth0", "192.0.2.0/24 dev eth0"));
  EXPECT_THAT(
      parse_routes("e0 0000010A 00000000 0001 0 0 100 0000FFFF 0 0 0\ne0 0100000A 0 0005 0 0 0 FFFFFFFF 0 0 0\n"),
      ElementsAre("10.1.0.0/16 dev e0 metric 100", "10.0.0.1 dev e0"));
  EXPECT_THAT(parse_routes("garbage\na b c d e f g h\n"), IsEmpty());
}

TEST(Parse, NetworkMountsNameTheServer) {
  const char* text =
      "22 1 0:21 / / rw - overlay overlay rw\n"
      "30 22 0:50 / /mnt/my\\040data rw shared:1 - nfs4 filer:/vol rw,vers=4.2,addr=10.9.0.5,clientaddr=10.9.0.1\n"
      "31 22 0:51 / /lustre rw - lustre 10.8.0.1@o2ib:/scratch rw\n"
      "32 22 0:52 / /cifs rw - cifs //win/share rw\n"
      "33 22 broken\n";
  EXPECT_THAT(parse_network_mounts(text), ElementsAre("/mnt/my data 10.9.0.5", "/lustre 10.8.0.1", "/cifs win"));
}

TEST(Parse, ServerAddressIsFoundWhereverTheOptionStands) {
  EXPECT_THAT(parse_network_mounts("1 2 0:1 / /a rw - nfs h:/x addr=1.2.3.4,rw"), ElementsAre("/a 1.2.3.4"));
  EXPECT_THAT(parse_network_mounts("1 2 0:1 / /a rw - nfs h:/x rw,clientaddr=9.9.9.9"), ElementsAre("/a h"));
}

TEST(Parse, EnvironmentVariablesAreMatchedWhole) {
  const std::string environ("XSSH_CONNECTION=no\0SSH_CONNECTION=1 2 3 4\0", 42);
  EXPECT_EQ(parse_environment(environ, "SSH_CONNECTION"), "1 2 3 4");
  EXPECT_EQ(parse_environment(environ, "SSH"), "");
}

TEST(Parse, TheParentIsFoundBehindAnyProcessName) {
  EXPECT_EQ(parse_parent("12 (a) b) S 7 12 12"), 7);
  EXPECT_EQ(parse_parent("12"), 0);
}

TEST(Parse, VersionsOfTheToolsOnTheNodes) {
  EXPECT_EQ(parse_version_after("mpirun (Open MPI) 4.1.4\n\nReport bugs", "Open MPI"), "4.1.4");
  EXPECT_EQ(parse_version_after("Open MPI v5.0.3rc1\n", "Open MPI"), "5.0.3rc1");
  EXPECT_EQ(parse_version_after("# Library version: 1.17.0\n", "Library version:"), "1.17.0");
  EXPECT_EQ(parse_version_after("# Version 1.13.1\n", "# Version"), "1.13.1");
  EXPECT_EQ(parse_version_after("HYDRA build details:", "Open MPI"), "");
}

TEST(Parse, PciAddresses) {
  EXPECT_TRUE(is_pci_address("0000:18:00.0"));
  EXPECT_TRUE(is_pci_address("10000:e1:00.1"));
  for (const char* text : {"pci0000:00", "0000:18:00", "0000:18:00.0x", "zzzz:18:00.0", ""})
    EXPECT_FALSE(is_pci_address(text)) << text;
}

TEST(Parse, LinkSpeeds) {
  EXPECT_DOUBLE_EQ(parse_link_speed("16.0 GT/s PCIe"), 16.0);
  EXPECT_DOUBLE_EQ(parse_link_speed("Unknown"), 0);
}

}  // namespace
}  // namespace fabricgate::readers
