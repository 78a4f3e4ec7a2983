#pragma once
/// The pulse of a launched process: a file on its node that a thread renews every second from before MPI_Init on. A process
/// that was stopped, or that hangs before anyone can ask it over MPI, is told from its neighbours by a pulse that stands still.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "results/record.hpp"
#include "results/result.hpp"

namespace fabricgate::launch {

struct PulseReading {
  int pid = 0;
  std::int64_t beats = 0;
  std::string phase;  ///< "starting", then the kind of the last order
  char state = '?';   ///< of the process as /proc says, T stopped, '?' gone or not told

  friend bool operator==(const PulseReading&, const PulseReading&) = default;
};

class Pulse {
 public:
  /// `with_beat` is called with every beat, from a thread of its own, until the pulse is destroyed.
  static Result<std::unique_ptr<Pulse>> start(const std::string& path, std::function<void()> with_beat = {},
                                              std::chrono::milliseconds period = std::chrono::seconds(1));
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  void set_phase(const std::string& phase);

 private:
  Pulse(int fd, std::function<void()> with_beat, std::chrono::milliseconds period);
  void beat();

  int fd_;
  std::function<void()> with_beat_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string phase_ = "starting";
  std::int64_t beats_ = 0;
  bool over_ = false;
  std::thread thread_;
};

/// On the node itself; with the host's name, because one machine may stand in for several nodes.
std::string pulse_path(const std::string& spool_dir, const RunIdentity& identity, const std::string& job, const std::string& host);

/// sh -c SCRIPT sh FILE: the pulse and the state of its process; what pulse_from_text reads.
inline constexpr const char* pulse_script =
    "read -r line <\"$1\" || exit 1; echo \"$line\"; sed 's/.*) //' \"/proc/${line%% *}/stat\" 2>/dev/null | cut -c1";
Result<PulseReading> pulse_from_text(const std::string& text);

}  // namespace fabricgate::launch
