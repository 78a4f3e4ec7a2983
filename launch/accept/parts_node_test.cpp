// What a rank reads of its own rails: one machine in memory, one order after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "inventory/host/fake_host.hpp"
#include "inventory/observe/rdma_testing.hpp"
#include "launch/accept/solo_rendezvous.hpp"
#include "launch/accept/worker.hpp"

namespace fabricgate::launch {
namespace {

using testing::ElementsAre;

class PartsNode : public testing::Test {
 protected:
  void SetUp() override {
    folder = testing::TempDir() + "parts_node_" + std::to_string(::getpid());
    const LoadedInventory loaded = parse_inventory(
        "schema: 1\ncluster: { name: test, management_cidr: 127.0.0.0/8 }\nlauncher: { spool_dir: " + folder +
            "/spool }\nclasses:\n  box:\n    rails:\n"
            "      - { netdev: ens1f0, device: mlx5_0, rate_gbps: 200, mtu: 9000, cidr: 172.16.0.0/16, leaf: leaf-a }\n"
            "      - { netdev: ens2f0, rate_gbps: 200, mtu: 9000, cidr: 172.17.0.0/16, leaf: leaf-b }\n"
            "nodes:\n  - { hosts: one, class: box, address: 127.0.0.1 }\n",
        "test");
    ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems.at(0));
    auto made = make_setup(job_by_hand(*loaded.inventory, {}));
    ASSERT_TRUE(made) << made.error().what;
    setup = std::make_unique<launch::Setup>(std::move(*made));
    ASSERT_TRUE(make_spool(setup->spool()));
    for (const char* device : {"18", "19"}) {
      const std::string pci = std::string("0000:") + device + ":00.0",
                        netdev = device == std::string("18") ? "ens1f0" : "ens2f0";
      add_function(host, pci, netdev, "mlx5_core");
      add_files(host, "/sys/class/net/" + netdev,
                {{"speed", "200000"}, {"carrier_changes", "1"}, {"statistics/rx_errors", "0"}});
    }
    add_roce(host, "mlx5_0", "0000:18:00.0", "ens1f0");
    host.files["/sys/class/infiniband/mlx5_0/ports/1/gids/10"] = "0000:0000:0000:0000:0000:ffff:ac10:0001\n";
    host.interface_addresses = {{"ens1f0", "172.16.0.1", 16}, {"ens2f0", "172.17.0.1", 16}};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// "check rail verdict" of each record.
  std::vector<std::string> measured(const std::string& kind) {
    SoloRendezvous meet;
    Worker worker(*setup, 0, host, meet);
    worker.execute({.kind = "roster", .body = {{"hosts", {"one"}}}, .seconds = 20});
    const Reply reply = worker.execute({.kind = kind, .body = nullptr, .seconds = 20});
    EXPECT_EQ(reply.error, "");
    std::vector<std::string> out;
    for (const std::string& line : reply.lines) {
      const auto record = record_from_line(line);
      if (record) out.push_back(record->check + " " + record->rail + " " + to_string(record->verdict));
    }
    return out;
  }

  std::string folder;
  FakeHost host;
  std::unique_ptr<launch::Setup> setup;
};

TEST_F(PartsNode, ARailIsAskedForItsDeviceAndItsLeafWhereItDeclaresThem) {
  host.commands["lldpctl -f json"] = {0, R"({"lldp": {"interface": [
    {"ens1f0": {"chassis": {"leaf-a": {"id": {"value": "02"}}}, "port": {"id": {"value": "Ethernet1"}}}},
    {"ens2f0": {"chassis": {"leaf-a": {"id": {"value": "02"}}}, "port": {"id": {"value": "Ethernet2"}}}}]}})",
                                      ""};
  EXPECT_THAT(measured("link"), ElementsAre("link.rail rail0 pass", "link.rail rail1 pass", "link.rdma rail0 pass",
                                            "link.cabling rail0 pass", "link.cabling rail1 fail"));
  EXPECT_EQ(host.accesses_of("run lldpctl").size(), 1u);
}

TEST_F(PartsNode, WithoutLldpTheCablingIsSkippedAndWithoutTheDeviceTheRailFails) {
  for (auto list : {&host.files, &host.links})
    for (auto place = list->begin(); place != list->end();)
      place = place->first.rfind("/sys/class/infiniband/", 0) == 0 ? list->erase(place) : std::next(place);
  EXPECT_THAT(measured("link"), ElementsAre("link.rail rail0 pass", "link.rail rail1 pass", "link.rdma rail0 fail",
                                            "link.cabling rail0 skip", "link.cabling rail1 skip"));
}

TEST_F(PartsNode, CountersOfAPortAreHeldAgainstThoseOfTheStart) {
  EXPECT_THAT(measured("counters"), ElementsAre("link.counters rail0 inconclusive", "link.counters rail1 inconclusive",
                                                "link.rdma_counters rail0 inconclusive"))
      << "no reading of the start";
  measured("link");
  host.files["/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed"] = "0\n";
  EXPECT_THAT(measured("counters").back(), "link.rdma_counters rail0 inconclusive")
      << "a counter that was not there before";
  host.files.erase("/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed");
  EXPECT_THAT(measured("counters").back(), "link.rdma_counters rail0 pass");
  host.files["/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error"] = "121\n";
  EXPECT_THAT(measured("counters").back(), "link.rdma_counters rail0 fail");
}

}  // namespace
}  // namespace fabricgate::launch
