#include "launch/gate/clean_up.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "inventory/host/claim.hpp"
#include "inventory/host/real_host.hpp"
#include "launch/accept/worker.hpp"
#include "results/file.hpp"

namespace fabricgate::launch {
namespace {

class CleanUp : public testing::Test {
 protected:
  void SetUp() override {
    setup_.inventory.launcher.spool_dir = testing::TempDir() + "/clean_up" + std::to_string(::getpid());
    setup_.job.identity.run = "run1";
    setup_.job.name = "pair";
    std::filesystem::create_directories(setup_.spool());
    child_ = ::fork();
    if (child_ == 0) {
      const auto noted = note_process(setup_, "a");  // as a launched rank does
      for (;;) ::pause();
    }
    while (!read_file(notes())) ::usleep(1000);
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::filesystem::remove_all(setup_.inventory.launcher.spool_dir);
  }

  const std::string& spool_dir() const { return setup_.inventory.launcher.spool_dir; }
  std::string notes() const { return process_spool(spool_dir(), "run1"); }
  bool is_free() const {
    const auto taken = claim_node(spool_dir(), {"run3", "h", "", 0, 0});
    return taken && taken->claim;
  }
  void run() {
    RealHost host;
    const auto result = host.run({"sh", "-c", clean_up_script, "sh", notes(), claim_path(spool_dir()), "run1"}, Deadline::in_seconds(20));
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->exit_code, 0) << result->err;
  }

  launch::Setup setup_;  // testing::Test has a Setup of its own
  pid_t child_ = -1;
};

TEST_F(CleanUp, EndsAProcessAsARankNotesItself) {
  run();
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(CleanUp, LeavesAPidAloneThatStartedAtAnotherTime) {
  std::string text = *read_file(notes());
  const auto at = text.find("\"start_ticks\":\"") + 15;
  text[at] = text[at] == '9' ? '8' : '9';
  ASSERT_TRUE(write_file_atomic(notes(), text));
  run();
  int status = 0;
  EXPECT_EQ(::waitpid(child_, &status, WNOHANG), 0);
}

TEST_F(CleanUp, EndsALauncherDaemonOfTheRunAndNoOther) {
  const std::string program = spool_dir() + "/orted";
  std::filesystem::copy_file("/bin/sleep", program);
  const auto start = [&](const char* name) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl(program.c_str(), name, "300", nullptr);
      ::_exit(1);
    }
    const std::string comm = "/proc/" + std::to_string(pid) + "/comm";
    for (auto text = read_file(comm); !text || *text != "orted\n"; text = read_file(comm)) ::usleep(1000);
    return pid;
  };
  const pid_t ours = start("/runs/run1/ssh_to_node"), others = start("/runs/run11/ssh_to_node");
  run();
  int status = 0;
  EXPECT_EQ(::waitpid(ours, &status, 0), ours);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(::waitpid(others, &status, WNOHANG), 0);
  ::kill(others, SIGKILL);
  ::waitpid(others, nullptr, 0);
}

TEST_F(CleanUp, GivesTheNodeBackBeforeTheLeaseOfTheRunEnds) {
  ASSERT_TRUE(claim_node(spool_dir(), {"run1", "h", "", 0, 600}));
  EXPECT_FALSE(is_free());
  run();
  EXPECT_TRUE(is_free());
}

TEST_F(CleanUp, LeavesTheNodeToAnotherRun) {
  ASSERT_TRUE(claim_node(spool_dir(), {"run11", "h", "", 0, 600}));
  run();
  EXPECT_FALSE(is_free());
}

TEST_F(CleanUp, RemovesTheFoldersOfOldRunsAndNothingElse) {
  const auto make = [&](const std::string& name) { std::filesystem::create_directories(spool_dir() + "/" + name + "/journal"); };
  const auto is_there = [&](const std::string& name) { return std::filesystem::exists(spool_dir() + "/" + name); };
  for (int day = 10; day < 30; ++day) make("202601" + std::to_string(day) + "-120000-00abcd");
  for (const char* name : {"20250101-120000-00abcd.kept", "20250101", "notes"}) make(name);
  run();
  for (int day = 10; day < 30; ++day) EXPECT_EQ(is_there("202601" + std::to_string(day) + "-120000-00abcd"), day >= 14) << day;
  for (const char* name : {"20250101-120000-00abcd.kept", "20250101", "notes", "run1"}) EXPECT_TRUE(is_there(name)) << name;
}

TEST_F(CleanUp, KeepsTheFolderOfTheRunWhateverTheOthersAreCalled) {
  const std::string own = "20260101-120000-00abcd";
  std::filesystem::create_directories(spool_dir() + "/" + own);
  for (int day = 10; day < 30; ++day) std::filesystem::create_directories(spool_dir() + "/202701" + std::to_string(day) + "-120000-00abcd");
  RealHost host;
  ASSERT_TRUE(host.run({"sh", "-c", clean_up_script, "sh", process_spool(spool_dir(), own), claim_path(spool_dir()), own}, Deadline::in_seconds(20)));
  EXPECT_TRUE(std::filesystem::exists(spool_dir() + "/" + own));
  EXPECT_FALSE(std::filesystem::exists(spool_dir() + "/20270110-120000-00abcd"));
}

TEST_F(CleanUp, GivesANodeBackThatNoRankEverStartedOn) {
  ASSERT_TRUE(claim_node(spool_dir(), {"run1", "h", "", 0, 600}));
  std::filesystem::remove(notes());
  run();
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace fabricgate::launch
