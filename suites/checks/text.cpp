#include <fmt/format.h>

#include "suites/checks/judging.hpp"

namespace fabricgate::suites {

std::string rate_text(double bytes_per_s) {
  const double bits = bytes_per_s * 8;
  if (!(bits < 1e15)) return fmt::format("{:g} bit/s", bits);
  if (bits >= 1e9) return fmt::format("{:.2f} Gb/s", bits / 1e9);
  return fmt::format("{:.1f} Mb/s", bits / 1e6);
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string limit_text(const std::string& metric, const Limit& limit) {
  const std::string unit = limit.unit == "1" ? "" : " " + limit.unit;
  const std::string range = limit.low && limit.high ? fmt::format("{:g} to {:g}", *limit.low, *limit.high)
                            : limit.low             ? fmt::format("at least {:g}", *limit.low)
                            : limit.high            ? fmt::format("at most {:g}", *limit.high)
                                                    : "none";
  return metric + " " + range + unit + ": " + limit.source;
}

std::string percent_text(double share) { return fmt::format("{:.2g} %", share * 100); }

}  // namespace fabricgate::suites
