#include "launch/gate/daemon.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <sstream>

namespace fabricgate::launch {
namespace {

/// "FAFD1CAC:5DC0" of /proc/net/tcp: the address in the byte order of the machine, which is little-endian.
std::string address_of(const std::string& word) {
  unsigned address = 0, port = 0;
  if (std::sscanf(word.c_str(), "%8X:%4X", &address, &port) != 2) return word;
  return fmt::format("{}.{}.{}.{}:{}", address & 255, address >> 8 & 255, address >> 16 & 255, address >> 24, port);
}

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

}  // namespace

DaemonReading daemon_from_text(const std::string& text) {
  DaemonReading out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, state, remote;
    words >> kind;
    if (kind == "daemon") words >> out.pid >> out.state;
    if (kind == "unwritable") out.unwritable = rest_of(words);
    if (kind == "unreached") out.unreached = rest_of(words);
    if (kind != "tcp" || !(words >> state >> remote)) continue;
    if (state == "01") out.connected = true;
    if (state == "02") out.calls = address_of(remote);
  }
  return out;
}

std::optional<Finding> start_trouble(const std::string& host, const DaemonReading& daemon, bool started,
                                     double waited_s) {
  const std::string reports = "the launcher's daemon on the node reports to the head";
  const auto find = [&](const char* cause, const std::string& found) {
    return make_finding(cause, {.host = host}, reports, found);
  };
  if (daemon.connected) return std::nullopt;
  if (!daemon.calls.empty())
    return find("launch.head_unreachable",
                fmt::format("process {} calls {} and is not answered", daemon.pid, daemon.calls));
  if (daemon.pid == 0 && started) {
    if (!daemon.unwritable.empty()) return find("launch.session_folder", daemon.unwritable);
    if (!daemon.unreached.empty()) return find("launch.head_unreachable", daemon.unreached);
    return find("launch.daemon_failed", "ssh started it, and it is gone");
  }
  if (waited_s <= 0) return std::nullopt;
  if (daemon.pid != 0)
    return find("launch.daemon_failed", fmt::format("process {} (state {}) has not connected to the head in {:.0f} s",
                                                    daemon.pid, daemon.state, waited_s));
  return find("launch.daemon_failed", fmt::format("ssh has not started it in {:.0f} s", waited_s));
}

}  // namespace fabricgate::launch
