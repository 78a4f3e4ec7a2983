#include "inventory/logs/driver_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DriverLog, LinesAreReadWithoutColoursAndCarriageReturns) {
  EXPECT_THAT(terminal_lines("Loading HCA driver:\x1b[60G[\x1b[1;32m  OK  \x1b[0;39m]\r\n10%\r20%\rdone"),
              ElementsAre("Loading HCA driver: [  OK  ]", "10%", "20%", "done"));
  EXPECT_THAT(terminal_lines(""), IsEmpty());
  EXPECT_THAT(terminal_lines("\x1b"), IsEmpty());
  EXPECT_THAT(terminal_lines("a\x1b["), ElementsAre("a"));
}

TEST(DriverLog, ModulesThatDidNotLoadAreNamedAlthoughOtherLinesSayOk) {
  // Mellanox/doca-driver-build#52
  EXPECT_THAT(
      failed_modules("Unloading HCA driver:[  OK  []\nFailed loading kernel module mlx5_ib:[FAILED[]\n"
                     "Loading Mellanox MLX5_IB HCA driver:[FAILED[]\nLoading HCA driver and Access Layer:[FAILED[]\n"),
      ElementsAre("mlx5_ib"));
  // the same on a terminal
  EXPECT_THAT(failed_modules("Failed loading kernel module mlx5_ib:\x1b[60G[\x1b[1;31mFAILED\x1b[0;39m]\r\n"),
              ElementsAre("mlx5_ib"));
  // BarrinXu/FaaSMem#1
  EXPECT_THAT(failed_modules("Unloading HCA driver:                                      [  OK  ]\n"
                             "Module mlx5_core does not exist, skipping...               [FAILED]\n"
                             "Module mlx5_ib does not exist, skipping...                 [FAILED]\n"
                             "Loading HCA driver and Access Layer:                       [  OK  ]\n"),
              ElementsAre("mlx5_core", "mlx5_ib"));
  EXPECT_THAT(failed_modules("modprobe: ERROR: could not insert 'mlx5_core': Key was rejected by service\n"
                             "insmod: ERROR: could not insert module /lib/modules/6.1.0/extra/ib_core.ko.xz: Invalid\n"
                             "modprobe: FATAL: Module rdma_cm not found in directory /lib/modules/6.1.0\n"),
              ElementsAre("mlx5_core", "ib_core", "rdma_cm"));
  EXPECT_THAT(failed_modules("Loading HCA driver and Access Layer:                       [  OK  ]\n"), IsEmpty());
}

TEST(DriverLog, ModulesThatAreHeldAreNamedWithTheirHolders) {
  EXPECT_THAT(held_modules("rmmod: ERROR: Module rdma_cm is in use by: rpcrdma rdma_ucm\r\n"
                           "modprobe: FATAL: Module mlx5_core is in use.\n"),
              ElementsAre("rdma_cm: in use by: rpcrdma rdma_ucm", "mlx5_core: in use."));
}

TEST(DriverLog, AFailedBuildOfTheStackIsToldFromThatOfAnotherDriver) {
  // uclasystem/hermit#8, shortened
  const char* failed =
      "Building MLNX_OFED_LINUX DEBS . Please wait...\n\n"
      "ERROR: Failed executing \"MLNX_OFED_SRC-4.9-4.1.7.0/install.pl --kernel-only\"\n"
      "ERROR: See /tmp/MLNX_OFED_LINUX-4.9-4.1.7.0-5.14.0-rc5/mlnx_iso.14699_logs/mlnx_ofed_iso.14699.log\n"
      "Failed to build MLNX_OFED_LINUX for 5.14.0-rc5\n";
  EXPECT_EQ(build_failure(failed), "ERROR: Failed executing \"MLNX_OFED_SRC-4.9-4.1.7.0/install.pl --kernel-only\"");
  EXPECT_THAT(named_logs(failed),
              ElementsAre("/tmp/MLNX_OFED_LINUX-4.9-4.1.7.0-5.14.0-rc5/mlnx_iso.14699_logs/mlnx_ofed_iso.14699.log"));
  // lines of DKMS, as in BarrinXu/FaaSMem#1
  const std::string dkms = "Error! Bad return status for module build on kernel: 6.1.55 (x86_64)\nConsult ";
  EXPECT_EQ(build_failure(dkms + "/var/lib/dkms/e1000e-dkms/3.4.2.3/build/make.log for more information.\n"), "");
  EXPECT_NE(build_failure(dkms + "/var/lib/dkms/mlnx-ofed-kernel/24.10/build/make.log for more information.\n"), "");
  EXPECT_THAT(named_logs("Error!  Build of mlx5_core.ko failed for: 5.1.5 (x86_64)\nConsult the make.log in the build "
                         "directory\n/var/lib/dkms/mlnx-ofed-kernel/24.10/build/ for more information.\n"),
              ElementsAre("/var/lib/dkms/mlnx-ofed-kernel/24.10/build/make.log"));
  EXPECT_EQ(build_failure("Installation finished successfully.\n"), "");
}

TEST(DriverLog, TheFirstCompilerErrorIsFoundWithItsLine) {
  const auto error = first_compiler_error(
      "make[2]: Entering directory '/usr/src/linux-headers-6.14'\n"
      "main.c:10:5: warning: unused variable 'x'\n"
      "/var/lib/dkms/mlnx-ofed-kernel/24.10/build/main.c:42:9: error: implicit declaration of function 'strlcpy'\n"
      "main.c:43:9: error: expected ';'\n");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->line, 3);
  EXPECT_EQ(
      error->text,
      "/var/lib/dkms/mlnx-ofed-kernel/24.10/build/main.c:42:9: error: implicit declaration of function 'strlcpy'");
  EXPECT_FALSE(first_compiler_error("no error: here\nerrors: 0\n"));
}

TEST(DriverLog, TheReleaseOfMlnxOfedIsReadAndThatOfDocaIsNone) {
  EXPECT_EQ(mlnx_ofed_release("MLNX_OFED_LINUX-24.10-1.1.4.0:\n"), "24.10-1.1.4.0");
  EXPECT_EQ(mlnx_ofed_release("OFED-internal-25.04-0.6.1:\n"), "");
  EXPECT_EQ(mlnx_ofed_release(""), "");
}

}  // namespace
}  // namespace fabricgate
