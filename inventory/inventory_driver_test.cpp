#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/inventory.hpp"
#include "results/file.hpp"

namespace fabricgate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string sha256(64, 'a');

/// testdata/base.yaml with this driver.
LoadedInventory with_driver(const std::string& keys) {
  auto text = read_file(std::string(TESTDATA) + "/base.yaml");
  EXPECT_TRUE(text);
  const std::string from = "memlock: unlimited";
  text->replace(text->find(from), from.size(), "driver: { owner: host, " + keys + " }");
  return parse_inventory(*text, "x");
}

TEST(InventoryDriver, EverySourceHasItsKeys) {
  for (const std::string& keys :
       {"source: mlnx-ofed, version: 24.10-1.1.4.0, bundle: /srv/MLNX_OFED.tgz, sha256: " + sha256 +
            ", flags: [--add-kernel-support, --kernel-extra-args=--with-x], reload: safe",
        "source: doca-host, bundle: /srv/doca.deb, sha256: " + sha256 + ", packages: [doca-ofed]",
        std::string(
            "source: doca-host, repository: https://linux.mellanox.com/public/repo/doca/3.0.0/ubuntu22.04/x86_64/, "
            "repository_key: /usr/share/keyrings/mellanox.gpg, reload: always"),
        std::string("source: inbox, bundle: /srv/debs, packages: [rdma-core]"), std::string("source: inbox")})
    EXPECT_THAT(with_driver(keys).problems, IsEmpty()) << keys;
  const auto loaded = with_driver("source: inbox, reload: safe");
  ASSERT_TRUE(loaded.inventory);
  const DriverSpec& driver = loaded.inventory->nodes[0].spec->driver;
  EXPECT_EQ(driver.reload, Reload::safe);
  EXPECT_THAT(driver.flags, ElementsAre("--without-fw-update"));
}

TEST(InventoryDriver, KeysThatDoNotFitTheSourceAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"source: mlnx-ofed, bundle: /srv/x.deb, version: 24.10-1.1.4.0, sha256: " + sha256,
       "is a .tgz or .iso, found '/srv/x.deb'"},
      {"source: mlnx-ofed, bundle: /srv/x.tgz, version: 24.10-1.1.4.0", "bundle and sha256 belong together"},
      {"source: mlnx-ofed, bundle: /srv/x.tgz, sha256: " + sha256, "needs 'version'"},
      {"source: mlnx-ofed, packages: [rdma-core]", "takes flags, not packages"},
      {"source: doca-host, bundle: /srv/x.tgz, sha256: " + sha256, "is a .deb or .rpm"},
      {"source: doca-host, sha256: " + sha256, "bundle and sha256 belong together"},
      {"source: doca-host, repository: https://a/b", "repository and repository_key belong together"},
      {"source: inbox, repository: https://a/b, repository_key: /k", "only doca-host has a repository"},
      {"source: inbox, bundle: /srv/x.deb", "is a folder of packages"},
      {"source: inbox, bundle: /srv/debs, sha256: " + sha256, "a folder, which has no sha256"},
      {"source: inbox, reload: soon", "expected one of never, safe, always"},
      {"source: mlnx-ofed, flags: [rm]", "expected an option like --add-kernel-support, found 'rm'"},
      {"source: mlnx-ofed, flags: ['--a;b']", "expected an option"},
      {"source: inbox, bundle: ../x", "expected an absolute path"},
      {"source: doca-host, bundle: /srv/x.deb, sha256: abc", "expected 64 hexadecimal digits"},
      {"source: doca-host, repository_key: /k, repository: 'https://a/b c'", "expected a URL"},
      {"source: doca-host, repository_key: /k, repository: 'ftp://a/b'", "expected a URL"}};
  for (const auto& [keys, said] : cases) {
    const auto loaded = with_driver(keys);
    EXPECT_THAT(loaded.problems, Contains(Field(&InventoryProblem::what, HasSubstr(said)))) << keys;
  }
}

/// testdata/base.yaml with these keys at its first rail.
LoadedInventory with_roce(const std::string& keys) {
  auto text = read_file(std::string(TESTDATA) + "/base.yaml");
  const std::string from = "mtu: 9000";
  text->replace(text->find(from), from.size(), keys);
  return parse_inventory(*text, "x");
}

TEST(InventoryRoce, SettingsAreReadInOrderAndThoseThatCannotBeAreRefused) {
  const auto loaded = with_roce("roce: { trust: dscp, pfc: [4, 3], ecn: [], traffic_class: 106 }");
  ASSERT_TRUE(loaded.inventory) << loaded.problems.size();
  const RoceSpec expected{
      .trust = "dscp", .pfc = std::vector<int>{3, 4}, .ecn = std::vector<int>{}, .traffic_class = 106};
  EXPECT_EQ(loaded.inventory->nodes[0].spec->rails[0].roce, expected);
  for (const auto& [keys, said] : std::vector<std::pair<std::string, std::string>>{
           {"roce: { pfc: [8] }", "expected an integer from 0 to 7"},
           {"roce: { ecn: [3, 3] }", "3 is given twice"},
           {"roce: { trust: both }", "expected one of dscp, pcp"},
           {"roce: { traffic_class: 256 }", "expected an integer from 0 to 255"},
           {"roce: { dscp: 26 }", "unknown key 'dscp'"},
           {"link_layer: infiniband\n        roce: { pfc: [3] }", "only a rail of link_layer ethernet"}})
    EXPECT_THAT(with_roce(keys).problems, Contains(Field(&InventoryProblem::what, HasSubstr(said)))) << keys;
}

}  // namespace
}  // namespace fabricgate
