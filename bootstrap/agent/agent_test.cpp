/// The program itself, as a node runs it.
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "bootstrap/agent/protocol.hpp"
#include "inventory/desired/desired.hpp"
#include "inventory/host/real_host.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::HasSubstr;

CommandResult agent(const std::string& input, std::vector<std::string> options = {}) {
  options.insert(options.begin(), AGENT);
  auto result = run_command(options, Deadline::in_seconds(60), input);
  EXPECT_TRUE(result) << result.error().what;
  return result ? *result : CommandResult{};
}

TEST(Agent, ItNeedsNoLibraryAndIsSmall) {
  if (!AGENT_IS_STATIC) GTEST_SKIP() << "sanitizer build: linked dynamically";
  auto file = read_file(AGENT);
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_LT(file->size(), std::size_t{8} << 20);
  Elf64_Ehdr header{};
  ASSERT_GE(file->size(), sizeof header);
  std::memcpy(&header, file->data(), sizeof header);
  ASSERT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    std::memcpy(&segment, file->data() + header.e_phoff + static_cast<std::size_t>(i) * header.e_phentsize,
                sizeof segment);
    EXPECT_NE(segment.p_type, static_cast<Elf64_Word>(PT_INTERP));
    EXPECT_NE(segment.p_type, static_cast<Elf64_Word>(PT_DYNAMIC));
  }
}

/// Runs the agent where the kernel has no system call newer than Linux 4.18. Output and exit code, or -1.
std::pair<int, std::string> agent_on_an_old_kernel(const std::string& input) {
  // rseq, of 4.18, was the last number before all architectures went on together at 424 in 5.1
  constexpr unsigned first_of_5_1 = 424, nothing_there = SECCOMP_RET_ERRNO | ENOSYS;
  sock_filter lines[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_of_5_1, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, nothing_there), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{.len = std::size(lines), .filter = lines};
  int in[2], out[2];
  if (::pipe(in) != 0 || ::pipe(out) != 0) return {-1, "no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    for (const int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      ::_exit(126);
    ::execl(AGENT, AGENT, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::close(in[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(out[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

TEST(Agent, ItNeedsNoSystemCallNewerThanLinux418) {
  const AgentRequest plan{.nonce = "00", .op = AgentOp::plan, .desired = to_json_value(Desired{})};
  const auto [code, text] = agent_on_an_old_kernel(frame_request(plan));
  if (code == 126) GTEST_SKIP() << "this kernel has no seccomp filter";
  ASSERT_EQ(code, 0);
  const auto value = extract_answer(text, "00");
  ASSERT_TRUE(value) << value.error().what;
  const auto answer = answer_from_json(*value);
  EXPECT_EQ(answer->error, "");
  ASSERT_TRUE(answer->facts);
  EXPECT_THAT(answer->facts->unread, testing::IsEmpty());
}

TEST(Agent, ItTellsTheFactsOfThisMachine) {
  const AgentRequest request{.nonce = "c0ffee",
                             .facts_request = {.sysctl_keys = {"kernel.ostype"}, .free_space_paths = {"/"}}};
  const CommandResult result = agent(frame_request(request));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  auto value = extract_answer(result.out, "c0ffee");
  ASSERT_TRUE(value) << value.error().what;
  auto answer = answer_from_json(*value);
  ASSERT_TRUE(answer) << answer.error().what;
  ASSERT_TRUE(answer->facts);
  EXPECT_EQ(answer->facts->sysctl.at("kernel.ostype"), "Linux");
  EXPECT_GT(answer->facts->memory_bytes, 0);
  EXPECT_EQ(answer->facts->versions.at("fabricgate"), FABRICGATE_VERSION);
}

TEST(Agent, ABareRequestWorksByHand) {
  const CommandResult result = agent(R"({"schema":1,"nonce":"00","op":"facts"})");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(extract_answer(result.out, "00"));
}

TEST(Agent, GarbageEndsWithUsageAndAClearMessage) {
  for (const std::string& input : {std::string("hello"), std::string("{}"), std::string("FABRICGATE-REQUEST 9\n{}"),
                                   std::string("\0\xff\x80", 3), std::string()}) {
    const CommandResult result = agent(input);
    EXPECT_EQ(result.exit_code, 64) << input;
    EXPECT_THAT(result.err, HasSubstr("agent request")) << input;
    EXPECT_EQ(result.out, "") << input;
  }
  const CommandResult option = agent("", {"--frobnicate"});
  EXPECT_EQ(option.exit_code, 64);
  EXPECT_THAT(option.err, HasSubstr("--frobnicate"));
}

TEST(Agent, ABadDesiredStateIsAnsweredAndRefused) {
  const CommandResult result = agent(R"({"schema":1,"nonce":"00","op":"plan","desired":{"node":7}})");
  EXPECT_EQ(result.exit_code, 64);
  auto value = extract_answer(result.out, "00");
  ASSERT_TRUE(value) << value.error().what;
  EXPECT_THAT(answer_from_json(*value)->error, HasSubstr("desired state"));
}

TEST(Agent, AWatchedRequestWhoseInputEndsBeginsNoStep) {
  AgentRequest request{.nonce = "00", .op = AgentOp::plan, .desired = to_json_value(Desired{})};
  request.only_steps = {"sysctl"};  // not in the initializer: GCC 12 at -O3 takes what it leaves out for uninitialized
  const auto error_of = [](const AgentRequest& asked) {
    const auto value = extract_answer(agent(frame_request(asked)).out, "00");
    return value ? answer_from_json(*value)->error : value.error().what;
  };
  EXPECT_EQ(error_of(request), "");
  request.watched = true;
  EXPECT_EQ(error_of(request), "told to end before step sysctl");
}

TEST(Agent, TwoAgentsDoNotApplyAtOnce) {
  const int fd = ::open("/run/fabricgate-agent.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) GTEST_SKIP() << "needs a writable /run: " << std::strerror(errno);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);  // another test's agent may be at work
  const CommandResult result = agent(R"({"schema":1,"nonce":"00","op":"apply","desired":{},"deadline_s":0.2})");
  ::close(fd);
  EXPECT_EQ(result.exit_code, 64);
  auto value = extract_answer(result.out, "00");
  ASSERT_TRUE(value) << value.error().what;
  EXPECT_THAT(answer_from_json(*value)->error, HasSubstr("another fabricgate-agent"));
}

TEST(Agent, ItSaysItsVersion) {
  EXPECT_EQ(agent("", {"--version"}).out, "fabricgate-agent " FABRICGATE_VERSION "\n");
  EXPECT_THAT(agent("", {"--help"}).out, HasSubstr("usage: fabricgate-agent"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
