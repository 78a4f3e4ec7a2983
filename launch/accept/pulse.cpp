#include "launch/accept/pulse.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "launch/job.hpp"

namespace fabricgate::launch {
namespace {

/// Every line has this length, so that one pwrite replaces the one before and a reader never sees half of it.
constexpr std::size_t line_length = 80;

}  // namespace

std::string pulse_path(const std::string& spool_dir, const RunIdentity& identity, const std::string& job, const std::string& host) {
  return run_spool(spool_dir, identity.run) + "/pulse-" + job + "-" + host;
}

Result<std::unique_ptr<Pulse>> Pulse::start(const std::string& path, std::function<void()> with_beat, std::chrono::milliseconds period) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return error_from_errno("open " + path, errno);
  return std::unique_ptr<Pulse>(new Pulse(fd, std::move(with_beat), period));
}

Pulse::Pulse(int fd, std::function<void()> with_beat, std::chrono::milliseconds period) : fd_(fd), with_beat_(std::move(with_beat)) {
  beat();
  thread_ = std::thread([this, period] {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, period, [this] { return over_; })) beat();
  });
}

Pulse::~Pulse() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
  ::close(fd_);
}

void Pulse::set_phase(const std::string& phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  beat();
}

void Pulse::beat() {
  std::string line = std::to_string(getpid()) + " " + std::to_string(++beats_) + " " + phase_;
  line.resize(line_length - 1, ' ');
  line.push_back('\n');
  (void)!::pwrite(fd_, line.data(), line.size(), 0);
  if (with_beat_) with_beat_();
}

Result<PulseReading> pulse_from_text(const std::string& text) {
  std::istringstream in(text);
  PulseReading out;
  if (!(in >> out.pid >> out.beats >> out.phase) || out.pid <= 0 || out.beats <= 0)
    return Error{ErrorKind::parse, "pulse: expected 'PID BEATS PHASE', found '" + text.substr(0, line_length) + "'", 0};
  if (char state = 0; in >> state) out.state = state;
  return out;
}

}  // namespace fabricgate::launch
