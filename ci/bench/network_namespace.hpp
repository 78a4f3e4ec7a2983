#pragma once
// Puts the calling thread into a network namespace made with `ip netns`, with a /sys of its own (UCX looks there). Root
// only.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

inline bool enter_namespace(const std::string& name) {
  const int fd = ::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ::unshare(CLONE_FS | CLONE_NEWNS) != 0 || ::setns(fd, CLONE_NEWNET) != 0) return false;
  ::close(fd);
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("sysfs", "/sys", "sysfs", 0, nullptr) == 0;
}
