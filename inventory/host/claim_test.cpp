// Two open files of one process are two holders to flock, as two processes are.
#include "inventory/host/claim.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "results/clock.hpp"
#include "results/file.hpp"

namespace fabricgate {
namespace {

using testing::HasSubstr;

class ClaimTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "claim-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    folder = root + "/a/spool";
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  Claimed take(const std::string& run, double lease_s = 0, const std::string& ended = "") {
    auto taken = claim_node(folder, {run, "head-of-" + run, "", 1785406500, lease_s}, ended);
    EXPECT_TRUE(taken) << taken.error().what;
    return taken ? std::move(*taken) : Claimed{};
  }
  /// As if nobody had renewed the lease for so long.
  void age(double seconds) {
    const auto then = static_cast<time_t>(unix_now_s() - seconds);
    const std::array<timespec, 2> times{timespec{then, 0}, timespec{then, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, claim_path(folder).c_str(), times.data(), 0), 0);
  }

  std::string root, folder;
};

TEST_F(ClaimTest, WhileAProcessOfOneRunWorksAnotherRunIsToldWhoseTheNodeIs) {
  const Claimed first = take("r1");
  ASSERT_TRUE(first.claim);
  const Claimed second = take("r2");
  EXPECT_FALSE(second.claim);
  ASSERT_TRUE(second.other);
  EXPECT_TRUE(second.other->working);
  EXPECT_EQ(to_string(*second.other),
            "fabricgate run r1, led from head-of-r1 since 2026-07-30 10:15:00 UTC, works on it until that run ends");
}

TEST_F(ClaimTest, ProcessesOfOneRunShareTheNode) {
  const Claimed first = take("r1"), second = take("r1"), third = take("r1");
  EXPECT_TRUE(first.claim && second.claim && third.claim);
}

TEST_F(ClaimTest, WithoutALeaseTheNodeIsFreeWhenTheProcessHasEnded) {
  take("r1");
  EXPECT_TRUE(take("r2").claim);
}

TEST_F(ClaimTest, BetweenTwoJobsTheLeaseKeepsTheNodeForTheRunAndSaysUntilWhen) {
  take("r1", 600);
  const Claimed other = take("r2");
  ASSERT_TRUE(other.other);
  EXPECT_FALSE(other.other->working);
  EXPECT_THAT(to_string(*other.other), HasSubstr("free at " + utc_text(other.other->until_unix_s) + " at the latest"));
  EXPECT_TRUE(take("r1", 600).claim);
}

TEST_F(ClaimTest, ALeaseThatNobodyRenewsEndsAndARenewedOneCountsAnew) {
  take("r1", 600);
  age(601);
  EXPECT_TRUE(take("r2", 600).claim);
  const Claimed holder = take("r2", 600);
  age(601);
  holder.claim->renew();
  EXPECT_TRUE(take("r3").other);
}

TEST_F(ClaimTest, AClockThatWentBackDoesNotKeepTheNodeForLongerThanTheLease) {
  take("r1", 600);
  age(-601);
  EXPECT_TRUE(take("r2").claim);
}

TEST_F(ClaimTest, AProcessThatWorksKeepsTheNodeAlsoWhenItsLeaseHasEnded) {
  const Claimed first = take("r1", 600);
  age(601);
  EXPECT_TRUE(take("r2").other);
}

TEST_F(ClaimTest, TheLastJobSetsTheLease) {
  take("r1", 2400);
  take("r1", 600);
  age(601);
  EXPECT_TRUE(take("r2").claim);
}

TEST_F(ClaimTest, AKilledProcessLeavesNoLock) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto taken = claim_node(folder, {"r1", "h", "", 0, 0});
    (void)!::write(ready[1], "x", taken && taken->claim ? 1 : 0);
    ::close(ready[1]);
    ::pause();
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1) << "the child did not get the node";
  ::close(ready[0]);
  EXPECT_TRUE(take("r2").other);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(take("r2").claim);
}

TEST_F(ClaimTest, ARebootEndsTheLease) {
  take("r1", 600);
  auto value = nlohmann::json::parse(*read_file(claim_path(folder)));
  value["boot_id"] = "another boot";
  ASSERT_TRUE(write_file_atomic(claim_path(folder), value.dump()));
  EXPECT_TRUE(take("r2").claim);
}

TEST_F(ClaimTest, TheLeaseOfARunThatIsKnownToHaveEndedDoesNotCountButItsProcessesDo) {
  take("r1", 600);
  EXPECT_TRUE(take("r2", 0, "r3").other);
  EXPECT_TRUE(take("r2", 0, "r1").claim);
  const Claimed left = take("r1", 600);
  EXPECT_TRUE(take("r2", 0, "r1").other);
}

TEST_F(ClaimTest, ALineCutShortIsNobodys) {
  take("r1", 600);
  const std::string text = *read_file(claim_path(folder));
  for (std::size_t cut = 0; cut + 2 < text.size(); cut += 11) {
    ASSERT_TRUE(write_file_atomic(claim_path(folder), text.substr(0, cut)));
    EXPECT_TRUE(take("r2").claim) << cut;
  }
}

TEST_F(ClaimTest, OfManyRunsAtOnceExactlyOneGetsTheNodeAndTheOthersNameIt) {
  for (int round = 0; round < 20; ++round) {
    folder = root + "/" + std::to_string(round);
    const double lease_s = round == 0 ? 0 : 600;  // without one the others are patient for two seconds
    std::vector<Claimed> taken(8);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < taken.size(); ++i)
      threads.emplace_back([&, i] { taken[i] = take("r" + std::to_string(i), lease_s); });
    for (std::thread& thread : threads) thread.join();
    std::string winner;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (!taken[i].claim) continue;
      EXPECT_EQ(winner, "");
      winner = "r" + std::to_string(i);
    }
    for (const Claimed& each : taken) {
      if (each.claim) continue;
      EXPECT_EQ(each.other ? each.other->occupant.run : "nobody", winner);
    }
  }
}

TEST_F(ClaimTest, AFolderThatCannotBeMadeIsAnErrorThatNamesIt) {
  ASSERT_TRUE(write_file_atomic(root + "/a", ""));
  const auto taken = claim_node(folder, {"r1", "h", "", 0, 0});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().what, HasSubstr(folder));
}

TEST_F(ClaimTest, AHolderSurvivesItsText) {
  const Holder holder{{"r1", "h", "m", 7, 600}, true, 9};
  EXPECT_EQ(*holder_from_json(to_json_value(holder)), holder);
  EXPECT_FALSE(holder_from_json(nlohmann::json::object()));
}

}  // namespace
}  // namespace fabricgate
