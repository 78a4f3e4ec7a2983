#include "launch/accept/pulse.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "inventory/host/real_host.hpp"
#include "results/file.hpp"

namespace fabricgate::launch {
namespace {

using std::chrono::milliseconds;

std::string fresh_path() {
  std::string path = testing::TempDir() + "pulse-XXXXXX";
  close(mkstemp(path.data()));
  return path;
}

PulseReading reading(const std::string& path) {
  RealHost host;
  const auto answer = host.run({"sh", "-c", pulse_script, "sh", path}, Deadline::in_seconds(20));
  const auto out = answer ? pulse_from_text(answer->out) : Result<PulseReading>(answer.error());
  EXPECT_TRUE(out) << (out ? "" : out.error().what);
  return out ? *out : PulseReading{};
}

TEST(Pulse, BeatsGoOnWithoutAnyHelpFromTheWorkingThread) {
  const std::string path = fresh_path();
  const auto pulse = Pulse::start(path, {}, milliseconds(1));
  ASSERT_TRUE(pulse);
  const PulseReading first = reading(path);
  EXPECT_EQ(first.pid, getpid());
  EXPECT_EQ(first.phase, "starting");
  EXPECT_NE(first.state, '?');
  const Deadline deadline = Deadline::in_seconds(30);
  while (reading(path).beats <= first.beats && !deadline.passed()) usleep(2000);
  EXPECT_GT(reading(path).beats, first.beats);
}

TEST(Pulse, ThePhaseIsThereAtOnceAndAShorterOneLeavesNothingOfTheLongerOne) {
  const std::string path = fresh_path();
  const auto pulse = Pulse::start(path, {}, std::chrono::hours(1));
  ASSERT_TRUE(pulse);
  (*pulse)->set_phase("collective");
  EXPECT_EQ(reading(path).phase, "collective");
  (*pulse)->set_phase("pairs");
  EXPECT_EQ(reading(path).phase, "pairs");
  EXPECT_EQ(reading(path).beats, 3);
  EXPECT_EQ(read_file(path)->size(), 80u);
}

TEST(Pulse, AFolderThatIsNotThereIsAnErrorThatNamesTheFile) {
  const auto pulse = Pulse::start("/proc/none/pulse-pair");
  ASSERT_FALSE(pulse);
  EXPECT_NE(pulse.error().what.find("/proc/none/pulse-pair"), std::string::npos);
}

TEST(Pulse, TextThatIsNoPulseIsAnError) {
  for (const char* text : {"", "x", "12", "12 3", "0 1 pairs", "12 -1 pairs", "twelve 1 pairs"}) EXPECT_FALSE(pulse_from_text(text)) << text;
  EXPECT_EQ(*pulse_from_text("12 3 pairs   \nT\n"), (PulseReading{12, 3, "pairs", 'T'}));
  EXPECT_EQ(pulse_from_text("12 3 pairs   \n")->state, '?');
}

}  // namespace
}  // namespace fabricgate::launch
