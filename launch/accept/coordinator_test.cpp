// Jobs of two ranks as threads of this process. Both are on one machine, so neither node passes: the tests are about
// who is asked, who leaves and what is kept.
#include "launch/accept/coordinator.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "fabric/thread_rendezvous.hpp"
#include "inventory/host/fake_host.hpp"
#include "launch/accept/parts.hpp"
#include "results/file.hpp"

namespace fabricgate::launch {
namespace {

namespace fs = std::filesystem;

std::string inventory_text(const std::string& folder) {
  return "schema: 1\ncluster: { name: test, management_cidr: 127.0.0.0/8 }\n"
         "launcher: { install_dir: " +
         folder + "/opt, spool_dir: " + folder +
         "/spool }\n"
         "classes:\n  plain:\n    emulated: true\n    gpus: 0\n    slots: 1\n    rails:\n"
         "      - { netdev: x0, link_layer: ethernet, rate_gbps: 1, mtu: 1500, cidr: 10.255.254.0/24 }\n"
         "nodes:\n"
         "  - { hosts: one, class: plain, address: 127.0.0.1 }\n"
         "  - { hosts: two, class: plain, address: 127.0.0.2 }\n"
         "  - { hosts: three, class: plain, address: 127.0.0.3 }\n";
}

class CoordinatorTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = testing::TempDir() + "coordinator_" + std::to_string(::getpid());
    const LoadedInventory loaded = parse_inventory(inventory_text(folder), "test");
    ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems.at(0));
    job = job_by_hand(*loaded.inventory, {});
    job.headless = true;
    job.tiers = {Tier::host};
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Ranks for the first two nodes; the third has none.
  JobStatus run() {
    auto made = make_setup(job);
    EXPECT_TRUE(made) << made.error().what;
    setup = std::make_unique<launch::Setup>(std::move(*made));
    EXPECT_TRUE(make_spool(setup->spool()));
    fabric::ThreadGroup group(2);
    std::thread other([&] {
      fabric::ThreadRendezvous meet(group, 1);
      Worker worker(*setup, 1, hosts[1], meet);
      worker.node_in_use(in_use);
      worker.holds_copy(copy);
      EXPECT_TRUE(serve(worker, meet, worker.arrival(0), Deadline::in_seconds(60)));
    });
    fabric::ThreadRendezvous meet(group, 0);
    Worker worker(*setup, 0, hosts[0], meet);
    Progress progress(ProgressStyle::silent);
    Coordinator coordinator(*setup, worker, meet, progress);
    const JobStatus status = coordinator.run(0);
    other.join();
    records = coordinator.records();
    in = coordinator.hosts();
    return status;
  }
  std::vector<std::string> hosts_of(const std::string& check, const std::string& cause = "") const {
    std::vector<std::string> out;
    for (const Record& record : records)
      if (record.check == check && (cause.empty() || (!record.findings.empty() && record.findings[0].cause == cause)))
        out.insert(out.end(), record.hosts.begin(), record.hosts.end());
    std::sort(out.begin(), out.end());
    return out;
  }

  std::string folder;
  Job job;
  std::unique_ptr<launch::Setup> setup;
  FakeHost hosts[2];
  std::vector<Record> records;
  std::vector<std::string> in;
  std::string in_use;  ///< who has the second node
  InventoryCopy copy;  ///< of the second rank
};

using Names = std::vector<std::string>;

TEST_F(CoordinatorTest, WithoutAHeadTheJobGoesOnWithoutNodesThatHaveNoProcess) {
  const JobStatus status = run();
  EXPECT_EQ(status.state, "complete");
  EXPECT_TRUE(status.findings.empty()) << status.findings[0].cause;
  EXPECT_EQ(hosts_of("host.facts"), (Names{"one", "two"}));
}

TEST_F(CoordinatorTest, AJobOfAHeadEndsSoThatItCanStartAgain) {
  job.headless = false;
  auto made = make_setup(job);
  ASSERT_TRUE(made);
  setup = std::make_unique<launch::Setup>(std::move(*made));
  ASSERT_TRUE(make_spool(setup->spool()));
  fabric::ThreadGroup group(1);
  fabric::ThreadRendezvous meet(group, 0);
  Worker worker(*setup, 0, hosts[0], meet);
  Progress progress(ProgressStyle::silent);
  const JobStatus status = Coordinator(*setup, worker, meet, progress).run(0);
  EXPECT_EQ(status.state, "rank_missing");
  EXPECT_EQ(status.missing, (Names{"two", "three"}));
}

TEST_F(CoordinatorTest, ANodeWithAMountOverARailLeavesUnlessAllowed) {
  hosts[1].files["/proc/self/mountinfo"] = "1 2 0:1 / /data rw - nfs store:/x addr=10.255.254.99,rw\n";
  run();
  EXPECT_EQ(hosts_of("host.facts", "stage.node_busy"), Names{"two"});
  EXPECT_EQ(in, Names{"one"});
  job.options.allow_busy = true;
  run();
  EXPECT_EQ(hosts_of("host.facts", "stage.node_busy"), Names{});
}

TEST_F(CoordinatorTest, ANodeOfAnotherRunIsNamedAndNotMeasuredWhateverIsAllowed) {
  in_use = "fabricgate run r2, led from h2";
  job.options.allow_busy = true;
  for (const bool headless : {true, false}) {
    job.headless = headless;
    job.hosts = {"one", "two"};
    EXPECT_EQ(run().state, "complete");
    EXPECT_EQ(hosts_of("host.facts", "stage.node_busy"), Names{"two"});
    EXPECT_EQ(hosts_of("host.facts"), (Names{"one", "two"}));
    EXPECT_EQ(hosts_of("host.fleet"), Names{"one"});
    EXPECT_EQ(in, Names{"one"});
    for (const Record& record : records)
      if (record.hosts == Names{"two"}) {
        EXPECT_EQ(record.findings.at(0).found, in_use);
        EXPECT_TRUE(record.sample.is_null());
      }
  }
}

TEST_F(CoordinatorTest, AnotherInventoryOnARankIsAFindingOfTheRunAndItsNodeIsMeasured) {
  copy = {"/root/inventory.yaml", sha256_hex("old")};
  const JobStatus status = run();
  ASSERT_EQ(status.findings.size(), 1U);
  EXPECT_EQ(status.findings[0].cause, "launch.inventory_differs");
  EXPECT_EQ(status.findings[0].subject, (Subject{.file = "/root/inventory.yaml"}));
  EXPECT_EQ(status.findings[0].found, "another on two");
  EXPECT_EQ(hosts_of("host.facts"), (Names{"one", "two"}));
  copy.checksum = job.identity.inventory;
  EXPECT_TRUE(run().findings.empty());
}

TEST_F(CoordinatorTest, AJobHasTimeForThreeTimesItsPairRoundsAtTwiceTheirTime) {
  const LoadedInventory loaded = parse_inventory(job.inventory_text, "test");
  ASSERT_TRUE(loaded.inventory);
  job.tiers = {Tier::pair};
  EXPECT_GE(job_deadline_s(*loaded.inventory, job), 3 * 2 * expected_seconds(*loaded.inventory, job) + 100);
}

TEST_F(CoordinatorTest, TheBusyHookIsAskedWhereNoHeadDid) {
  std::string text = job.inventory_text + "hooks:\n  busy: test {node} != two\n";
  job.inventory_text = text;
  run();
  EXPECT_EQ(hosts_of("host.facts", "stage.node_busy"), Names{"two"});
  EXPECT_EQ(in, Names{"one"});
}

TEST_F(CoordinatorTest, NodesThatFailATierAreNotAskedInTheNext) {
  job.tiers = {Tier::host, Tier::link};
  run();  // no machine in memory has the rail: both leave in the host tier
  EXPECT_EQ(hosts_of("host.facts"), (Names{"one", "two"}));
  EXPECT_EQ(hosts_of("link.rail"), Names{});
}

TEST_F(CoordinatorTest, AStageWithoutAnAgentIsAFindingOfEachNodeAndTheyLeave) {
  job.tiers = {Tier::stage, Tier::host};
  run();  // whatever agent there is, a machine in memory runs no command
  EXPECT_EQ(hosts_of("stage.node", "stage.agent_failed"), (Names{"one", "two"}));
  EXPECT_EQ(hosts_of("host.facts"), Names{});
  EXPECT_TRUE(in.empty());
}

}  // namespace
}  // namespace fabricgate::launch
