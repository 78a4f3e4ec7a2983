#pragma once
/// One line per tier while it works: rewritten in place on a terminal, now and then a plain line in a log. A launched rank 0
/// writes events instead, which the gate that started it shows.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace fabricgate::launch {

struct ProgressEvent {
  std::string tier;
  int done = 0, total = 0;
  double left_s = 0;  ///< estimate, 0 unknown
};

/// "@progress pair 3 10 12.5"
std::string to_line(const ProgressEvent& event);
/// Nothing when the line is something else (mpirun tears lines now and then).
std::optional<ProgressEvent> progress_from_line(std::string_view line);
/// "@ended rank_missing": the last event of a job.
std::string ended_line(const std::string& state);
bool is_ended_line(std::string_view line);
/// "pair        3/10   30%  left 12 s"
std::string to_text(const ProgressEvent& event);

enum class ProgressStyle { terminal, plain, events, silent };
/// terminal when `fd` is one, else plain.
ProgressStyle progress_style(int fd);

class Progress {
 public:
  explicit Progress(ProgressStyle style, int fd = 2) : style_(style), fd_(fd) {}
  void show(const ProgressEvent& event);
  /// For the gate that started this job: it is over, whatever the launcher still does. Nothing in other styles.
  void end_job(const std::string& state) const;
  /// Ends a terminal line, so that other output starts on a fresh one.
  void finish();

 private:
  void put(const std::string& text) const;
  ProgressStyle style_;
  int fd_;
  bool open_ = false;
  std::string last_tier_;
  std::chrono::steady_clock::time_point last_{};
};

/// 75 → "1 min 15 s".
std::string duration_text(double seconds);

}  // namespace fabricgate::launch
