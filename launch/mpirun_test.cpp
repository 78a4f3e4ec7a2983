#include "launch/mpirun.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace fabricgate::launch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

MpirunJob job(int major) {
  return {.version = {.major = major},
          .hostfile = "/runs/a/hostfile",
          .ssh_script = "/runs/a/ssh_to_node",
          .management = {.address = 0x0a140000, .prefix = 22},
          .nodes = 3,
          .program = {"/opt/fabricgate/fabricgate-rank", "accept", "--job", "/var/tmp/job.json"}};
}

std::string after(const std::vector<std::string>& arguments, const std::string& name) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
    if (arguments[i] == name) return arguments[i + 1];
  return "(absent)";
}

TEST(Mpirun, VersionOfOpenMpi4And5IsRead) {
  EXPECT_EQ(parse_mpirun_version("mpirun (Open MPI) 4.1.4\n\nReport bugs to x\n")->minor, 1);
  EXPECT_EQ(parse_mpirun_version("mpirun (Open MPI) 5.0.3rc1\n")->major, 5);
}

TEST(Mpirun, AnotherLauncherIsRefusedByName) {
  const auto version = parse_mpirun_version("HYDRA build details:\n  Version: 4.0\n");
  ASSERT_FALSE(version);
  EXPECT_THAT(version.error().what, HasSubstr("HYDRA build details"));
  EXPECT_FALSE(parse_mpirun_version("mpirun (Open MPI) 3.1.6"));
}

TEST(Mpirun, MessagesStayOnTheManagementNetwork) {
  const auto line = mpirun_arguments(job(4));
  EXPECT_EQ(after(line, "btl_tcp_if_include"), "10.20.0.0/22");
  EXPECT_EQ(after(line, "oob_tcp_if_include"), "10.20.0.0/22");
  EXPECT_EQ(after(line, "pml"), "ob1");
  EXPECT_EQ(after(line, "--bind-to"), "none");
}

TEST(Mpirun, OpenMpi4StartsEveryDaemonFromHereOverOurSshConfiguration) {
  const auto line = mpirun_arguments(job(4));
  EXPECT_EQ(after(line, "plm_rsh_no_tree_spawn"), "1");
  EXPECT_EQ(after(line, "plm_rsh_agent"), "sh");
  EXPECT_EQ(after(line, "plm_rsh_args"), "/runs/a/ssh_to_node");
  EXPECT_THAT(line, Not(Contains("--prtemca")));
}

TEST(Mpirun, OpenMpi5HasTheSameSettingsUnderItsOwnNames) {
  const auto line = mpirun_arguments(job(5));
  EXPECT_EQ(after(line, "plm_ssh_no_tree_spawn"), "1");
  EXPECT_EQ(after(line, "plm_ssh_agent"), "sh");
  EXPECT_EQ(after(line, "plm_ssh_args"), "/runs/a/ssh_to_node");
  EXPECT_EQ(after(line, "prte_if_include"), "10.20.0.0/22");
  EXPECT_EQ(after(line, "oob_tcp_if_include"), "(absent)");
}

TEST(Mpirun, PrefixAndRootAreNamedOnlyWhereNeeded) {
  EXPECT_THAT(mpirun_arguments(job(4)), Not(Contains("--prefix")));
  MpirunJob other = job(4);
  other.prefix = "/opt/openmpi";
  other.as_root = true;
  EXPECT_EQ(after(mpirun_arguments(other), "--prefix"), "/opt/openmpi");
  EXPECT_THAT(mpirun_arguments(other), Contains("--allow-run-as-root"));
}

TEST(Mpirun, TheLauncherOfTheDeclaredInstallationIsUsedWhereTheHeadHasIt) {
  const std::filesystem::path prefix = testing::TempDir() + "mpirun_prefix";
  std::filesystem::create_directories(prefix / "bin");
  EXPECT_EQ(mpirun_program(prefix), "mpirun");
  std::ofstream(prefix / "bin/mpirun") << "#!/bin/sh\n";
  EXPECT_EQ(mpirun_program(prefix), "mpirun") << "a file that cannot be run";
  std::filesystem::permissions(prefix / "bin/mpirun", std::filesystem::perms::owner_all);
  EXPECT_EQ(mpirun_program(prefix), prefix / "bin/mpirun");
  std::filesystem::remove_all(prefix);
  EXPECT_EQ(mpirun_program("/usr"), "mpirun");
}

TEST(Mpirun, PortRangeIsSharedBetweenLauncherAndMessages) {
  MpirunJob ranged = job(4);
  ranged.ports = "20000-20299";
  const auto line = mpirun_arguments(ranged);
  EXPECT_EQ(after(line, "oob_tcp_dynamic_ipv4_ports"), "20000-20099");
  ranged.launcher_ports = {.low = 20016, .high = 20031};
  EXPECT_EQ(after(mpirun_arguments(ranged), "oob_tcp_dynamic_ipv4_ports"), "20016-20031");
  EXPECT_EQ(after(line, "btl_tcp_port_min_v4"), "20100");
  EXPECT_EQ(after(line, "btl_tcp_port_range_v4"), "200");
}

TEST(Mpirun, ARunFolderThatItCannotTakeIsNamedWithTheCharacter) {
  EXPECT_TRUE(check_mpirun_path("/home/user/gates-1.2_x/a:b/é(1)+@~%=#[]'/runs"));
  for (const auto& [path, name] : {std::pair{"/home/my runs", "a blank"}, {"/home/my\truns", "a character 0x09"}, {"/a,b", "','"}, {"/a$b", "'$'"},
                                   {"/a\"b", "'\"'"}, {"/a`b", "'`'"}, {"/a\\b", "'\\'"}}) {
    const auto taken = check_mpirun_path(path);
    ASSERT_FALSE(taken) << path;
    EXPECT_THAT(taken.error().what, HasSubstr(std::string("run folder ") + path));
    EXPECT_THAT(taken.error().what, HasSubstr(std::string("with ") + name));
  }
}

TEST(Mpirun, ProgramComesLast) {
  const auto line = mpirun_arguments(job(5));
  EXPECT_EQ(line.back(), "/var/tmp/job.json");
}

TEST(ShellLine, WordsWithSpacesAndQuotesAreQuoted) {
  EXPECT_EQ(shell_line({"ssh", "-F a", "it's", "", "^hcoll"}), "ssh '-F a' 'it'\\''s' '' '^hcoll'");
}

}  // namespace
}  // namespace fabricgate::launch
