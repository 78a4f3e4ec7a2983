#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "launch/commands/command.hpp"
#include "launch/gate/run_folder.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::launch {
namespace {

/// The folder of a good run.
class Judge : public testing::Test {
 protected:
  void SetUp() override {
    suites::GoodRun run = suites::good_run();
    auto setup = make_setup(job_by_hand(run.inventory, {}));
    ASSERT_TRUE(setup) << setup.error().what;
    auto made = RunFolder::create(runs_, *setup);
    ASSERT_TRUE(made) << made.error().what;
    folder_ = made->path();
    for (Record& record : run.records) record.identity = setup->job.identity;
    ASSERT_TRUE(write_file_atomic(made->file("head.jsonl"), run.text()));
  }
  void TearDown() override { std::filesystem::remove_all(runs_); }

  int judge(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{folder_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_judge(arguments);
  }

  std::string runs_ = testing::TempDir() + "judge_" + std::to_string(::getpid()), folder_;
};

TEST_F(Judge, APartOfTheDemandsIsNeverReady) {
  EXPECT_EQ(judge(), 0);
  EXPECT_EQ(judge({"--tiers", "host,link,pair,collective"}), 0) << "what accept demands";
  EXPECT_EQ(judge({"--tiers", "stage,host,link,pair,collective"}), 0) << "everything";
  for (const char* tiers : {"stage", "host", "pair", "stage,host,link,pair", "link,pair,collective", "soak"})
    EXPECT_EQ(judge({"--tiers", tiers}), 2) << tiers;
}

TEST_F(Judge, AFolderThatIsNoRunIsSaidToBeNoneAndTheLatestRunInItIsNamed) {
  const auto said = [&](const std::string& folder) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_judge({folder}), 64);
    return testing::internal::GetCapturedStderr();
  };
  const std::string without = said(runs_);
  EXPECT_NE(without.find(runs_ + " is no run folder"), std::string::npos) << without;
  EXPECT_EQ(without.find("did you mean"), std::string::npos) << without;
  ASSERT_TRUE(point_latest(runs_, std::filesystem::path(folder_).filename()));
  const std::string with = said(runs_);
  EXPECT_NE(with.find(runs_ + " is no run folder"), std::string::npos) << with;
  EXPECT_NE(with.find("did you mean " + runs_ + "/latest?"), std::string::npos) << with;
  EXPECT_NE(said(runs_ + "/no-such").find("/no-such is no folder"), std::string::npos);
}

TEST_F(Judge, WhatFailedInAPartStaysNotReady) {
  suites::GoodRun run = suites::good_run();
  for (Record& record : run.records) {
    if (record.check == "link.rail") record.sample["now"]["carrier"] = false;
    record = suites::judged({run.inventory, run.limits}, record);
    record.identity = RunFolder::load(folder_)->job.identity;
  }
  ASSERT_TRUE(write_file_atomic(folder_ + "/head.jsonl", run.text()));
  EXPECT_EQ(judge({"--tiers", "link"}), 1);
}

}  // namespace
}  // namespace fabricgate::launch
