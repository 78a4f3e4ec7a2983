#pragma once
#include <sys/resource.h>

namespace fabricgate::fabric {

/// Processor seconds of the calling thread until now, its system calls included. What interrupts do for it is in no
/// thread's.
inline double thread_cpu_s() {
  rusage usage{};
  (void)::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace fabricgate::fabric
