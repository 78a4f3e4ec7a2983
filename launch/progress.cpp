#include "launch/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace fabricgate::launch {
namespace {

constexpr auto plain_interval = std::chrono::seconds(10);
constexpr std::string_view mark = "@progress ", ended_mark = "@ended ";

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string to_line(const ProgressEvent& event) {
  return fmt::format("{}{} {} {} {:.1f}", mark, event.tier, event.done, event.total, event.left_s);
}

std::optional<ProgressEvent> progress_from_line(std::string_view line) {
  if (!line.starts_with(mark)) return std::nullopt;
  char tier[32] = "";
  ProgressEvent event;
  const std::string text(line.substr(mark.size()));
  if (std::sscanf(text.c_str(), "%31s %d %d %lf", tier, &event.done, &event.total, &event.left_s) != 4) return std::nullopt;
  if (event.total < 0 || event.done < 0 || event.done > event.total) return std::nullopt;
  event.tier = tier;
  return event;
}

std::string ended_line(const std::string& state) { return std::string(ended_mark) + state; }

bool is_ended_line(std::string_view line) { return line.starts_with(ended_mark); }

std::string to_text(const ProgressEvent& event) {
  const int share = event.total > 0 ? 100 * event.done / event.total : 0;
  std::string out = fmt::format("{:<12}{:>4}/{:<4} {:>3}%", event.tier, event.done, event.total, share);
  if (event.left_s > 0.5 && event.done < event.total) out += "  left " + duration_text(event.left_s);
  return out;
}

ProgressStyle progress_style(int fd) { return isatty(fd) ? ProgressStyle::terminal : ProgressStyle::plain; }

void Progress::put(const std::string& text) const { (void)!::write(fd_, text.data(), text.size()); }

void Progress::show(const ProgressEvent& event) {
  if (style_ == ProgressStyle::silent) return;
  if (style_ == ProgressStyle::events) return put(to_line(event) + "\n");
  if (style_ == ProgressStyle::terminal) {
    if (open_ && event.tier != last_tier_) put("\n");
    put("\r\x1b[K" + to_text(event));
    open_ = true;
  } else {
    const auto now = std::chrono::steady_clock::now();
    const bool due = event.tier != last_tier_ || event.done == event.total || now - last_ >= plain_interval;
    if (!due) return;
    last_ = now;
    put(to_text(event) + "\n");
  }
  last_tier_ = event.tier;
}

void Progress::end_job(const std::string& state) const {
  if (style_ == ProgressStyle::events) put(ended_line(state) + "\n");
}

void Progress::finish() {
  if (open_) put("\n");
  open_ = false;
}

}  // namespace fabricgate::launch
