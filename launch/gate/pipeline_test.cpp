/// What stops a gate before it has touched a node: exit code 2 and the reason in the report.
#include "launch/gate/pipeline.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "suites/gate/good_run.hpp"

namespace fabricgate::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

class PipelineTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = make_setup(job_by_hand(suites::good_run().inventory, {}));
    ASSERT_TRUE(made) << made.error().what;
    made->inventory.launcher.mpi_prefix = "/usr";
    auto created = RunFolder::create(runs, *made);
    ASSERT_TRUE(created) << created.error().what;
    nodes = made->inventory.nodes.size();
    folder = created->path();
    pipeline = std::make_unique<Pipeline>(std::move(*made), std::move(*created), bootstrap::StageOptions{}, progress);
  }
  void TearDown() override { std::filesystem::remove_all(runs); }

  /// Exit code of the pipeline in a process of its own, on a head that `spoil` has changed.
  template <class Spoil>
  int run_after(const Spoil& spoil) const {
    const pid_t child = ::fork();
    if (child == 0) {
      spoil();
      ::_exit(pipeline->run());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string table() const {
    const auto text = read_file(folder + "/table.txt");
    return text ? *text : "";
  }
  bool staged() const { return std::filesystem::exists(folder + "/stage.txt"); }

  const std::string runs = testing::TempDir() + "pipeline_" + std::to_string(::getpid());
  Progress progress{ProgressStyle::silent};
  std::size_t nodes = 0;
  std::string folder;
  std::unique_ptr<Pipeline> pipeline;
};

TEST_F(PipelineTest, AHeadWithoutMpirunSaysSoInTheReportBeforeAnythingIsStaged) {
  EXPECT_EQ(run_after([] { ::setenv("PATH", "/nonexistent", 1); }), 2);
  EXPECT_EQ(RunFolder(folder).unfinished(),
            "before staging: mpirun is not in /nonexistent; install Open MPI 4 or 5 on this machine, or set launcher.mpi_prefix to where it is");
  EXPECT_THAT(table(), HasSubstr("mpirun is not in /nonexistent"));
  EXPECT_FALSE(staged());
}

TEST_F(PipelineTest, AHardLimitOfOpenFilesThatIsTooLowIsNamedBeforeAnythingIsStaged) {
  const auto spoil = [] {
    const rlimit low{.rlim_cur = 60, .rlim_max = 60};
    ::setrlimit(RLIMIT_NOFILE, &low);
  };
  EXPECT_EQ(run_after(spoil), 2);
  const std::string need = std::to_string(256 + 8 * nodes);
  EXPECT_THAT(RunFolder(folder).unfinished(), HasSubstr("before staging: the limit of open files on this machine is 60 (RLIMIT_NOFILE, hard) and " + need));
  EXPECT_THAT(table(), HasSubstr("RLIMIT_NOFILE"));
  EXPECT_FALSE(staged());
}

TEST(Head, SettingsOfThePersonsOwnAreLeftOutAndTheLimitOfFilesIsRaised) {
  if (std::system("mpirun --version > /dev/null 2>&1 && command -v ssh > /dev/null") != 0) GTEST_SKIP() << "no mpirun or ssh here";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = 60, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &low);
  ::setenv("OMPI_MCA_orte_launch_agent", "/bin/false", 1);
  Inventory inventory;
  inventory.nodes.resize(3);
  const auto head = prepare_head(inventory);
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(head) << head.error().what;
  EXPECT_EQ(std::getenv("OMPI_MCA_orte_launch_agent"), nullptr);
  EXPECT_EQ(now.rlim_cur, 256U + 8 * 3);
}

}  // namespace
}  // namespace fabricgate::launch
