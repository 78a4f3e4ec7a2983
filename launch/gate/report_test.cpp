#include "launch/gate/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "results/file.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReportTest : public testing::Test {
 protected:
  void SetUp() override {
    const suites::GoodRun run = suites::good_run();
    auto made = make_setup(job_by_hand(run.inventory, {}));
    ASSERT_TRUE(made) << made.error().what;
    setup = std::make_unique<launch::Setup>(std::move(*made));
    setup->job.identity.run = "run-1";
    auto created = RunFolder::create(runs, *setup);
    ASSERT_TRUE(created) << created.error().what;
    folder = std::make_unique<RunFolder>(std::move(*created));
  }
  void TearDown() override { fs::remove_all(runs); }

  /// What is printed; every node but the first `free` ones belongs to another run.
  std::string report(std::size_t free) {
    for (std::size_t i = free; i < setup->inventory.nodes.size(); ++i) {
      const std::string& name = setup->inventory.nodes[i].name;
      const Finding busy = make_finding("stage.node_busy", {.host = name}, "no other run", "run-0 has it");
      EXPECT_TRUE(folder->add(statement(*setup, Tier::stage, name, busy, 0)));
    }
    testing::internal::CaptureStdout();
    EXPECT_NE(report_run(*folder, *setup, setup->suite), 0);
    return testing::internal::GetCapturedStdout();
  }
  bool is_latest() const { return fs::is_symlink(runs + "/latest"); }

  const std::string runs = testing::TempDir() + "report_" + std::to_string(::getpid());
  std::unique_ptr<launch::Setup> setup;
  std::unique_ptr<RunFolder> folder;
};

TEST_F(ReportTest, ARunWithAVerdictIsTheLatest) {
  report(1);
  EXPECT_EQ(fs::read_symlink(runs + "/latest"), "run-1");
}

TEST_F(ReportTest, ARunThatWasRefusedOnEveryNodeIsNobodysLatest) {
  EXPECT_THAT(report(0), HasSubstr("stage.node_busy"));
  EXPECT_FALSE(is_latest());
}

TEST_F(ReportTest, FindingsOfTheRunAreInTheTableAndTheSummary) {
  ASSERT_TRUE(folder->add(make_finding("launch.placement", {}, "ranks on nodes of the inventory only", "h9 is none")));
  EXPECT_THAT(report(0), HasSubstr("h9 is none"));
  const auto summary = read_file(folder->file("summary.json"));
  ASSERT_TRUE(summary);
  EXPECT_THAT(*summary, HasSubstr("h9 is none"));
}

TEST_F(ReportTest, AResultThatCannotBeKeptIsSaidBesideTheVerdictAndIsNobodysLatest) {
  fs::create_directories(folder->file("summary.json"));  // no file can take its place
  EXPECT_THAT(report(1), HasSubstr("this result could not be kept: "));
  EXPECT_FALSE(is_latest());
}

}  // namespace
}  // namespace fabricgate::launch
