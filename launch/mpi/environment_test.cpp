#include "launch/mpi/environment.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

extern char** environ;

namespace fabricgate::launch {
namespace {

using testing::HasSubstr;

/// A listening socket of this machine and its port.
struct Listener {
  Listener() {
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    (void)::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length);
    port = ntohs(at.sin_port);
  }
  ~Listener() { ::close(fd); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  std::string uri() const { return "26476544.0;tcp4://127.0.0.1:" + std::to_string(port); }
  int fd = -1, port = 0;
};

/// Without a trace of a launcher; what was there comes back.
class LaunchedTest : public testing::Test {
 protected:
  void SetUp() override {
    for (char** entry = environ; *entry;) {
      const std::string text = *entry;
      if (text.rfind("OMPI_", 0) != 0 && text.rfind("PMIX_", 0) != 0) {
        ++entry;
        continue;
      }
      saved.push_back(text);
      ::unsetenv(text.substr(0, text.find('=')).c_str());
    }
  }
  void TearDown() override {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMIX_SERVER_URI41"}) ::unsetenv(name);
    for (const std::string& text : saved)
      ::setenv(text.substr(0, text.find('=')).c_str(), text.substr(text.find('=') + 1).c_str(), 1);
  }
  static std::string error() {
    const auto launched = started_by_mpirun();
    return launched ? "none" : launched.error().what;
  }

  std::vector<std::string> saved;
};

TEST_F(LaunchedTest, WithoutALaunchersVariablesNobodyLaunchedThisProcess) {
  const auto launched = started_by_mpirun();
  ASSERT_TRUE(launched);
  EXPECT_FALSE(*launched);
}

TEST_F(LaunchedTest, WithADaemonThatListensTheLaunchIsLive) {
  Listener daemon;
  ASSERT_EQ(::listen(daemon.fd, 1), 0);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  ::setenv("PMIX_SERVER_URI41", daemon.uri().c_str(), 1);
  const auto launched = started_by_mpirun();
  ASSERT_TRUE(launched) << launched.error().what;
  EXPECT_TRUE(*launched);
}

TEST_F(LaunchedTest, VariablesLeftOverWithoutADaemonAreAnErrorThatSaysWhatToUnset) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) {
    ::setenv(name, "4", 1);
    EXPECT_THAT(error(), HasSubstr("names no PMIX_SERVER_URI"));
    EXPECT_THAT(error(), HasSubstr("Unset the variables that begin with OMPI_, PMIX_"));
    ::unsetenv(name);
  }
}

TEST_F(LaunchedTest, ADaemonThatIsGoneIsAnErrorThatNamesIt) {
  const Listener daemon;  // bound, so that nobody else gets the port, but not listening
  ::setenv("PMIX_RANK", "0", 1);
  ::setenv("PMIX_SERVER_URI41", daemon.uri().c_str(), 1);
  EXPECT_THAT(error(), HasSubstr("nobody listens at its PMIX_SERVER_URI " + daemon.uri()));
}

TEST_F(LaunchedTest, AnAddressThatCannotBeCheckedIsBelieved) {
  ::setenv("PMIX_RANK", "0", 1);
  ::setenv("PMIX_SERVER_URI41", "0:/tmp/pmix-12345", 1);
  EXPECT_EQ(error(), "none");
}

TEST_F(LaunchedTest, McaVariablesAreTakenOutAndNamedAndOthersStay) {
  for (const char* name : {"PMIX_MCA_gds", "OMPI_MCA_orte_rankfile", "PRTE_MCA_plm", "OMPI_MCA_"}) ::setenv(name, "x", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  EXPECT_EQ(drop_mca_variables(), (std::vector<std::string>{"OMPI_MCA_", "OMPI_MCA_orte_rankfile", "PMIX_MCA_gds", "PRTE_MCA_plm"}));
  for (const char* name : {"PMIX_MCA_gds", "OMPI_MCA_orte_rankfile", "PRTE_MCA_plm"}) EXPECT_EQ(::getenv(name), nullptr) << name;
  EXPECT_NE(::getenv("OMPI_ALLOW_RUN_AS_ROOT"), nullptr);
  EXPECT_TRUE(drop_mca_variables().empty());
  ::unsetenv("OMPI_ALLOW_RUN_AS_ROOT");
}

}  // namespace
}  // namespace fabricgate::launch
