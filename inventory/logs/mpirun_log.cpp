#include "inventory/logs/mpirun_log.hpp"

#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

namespace fabricgate {
namespace {

using Kind = MpirunEventKind;

bool has(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

/// The word after `mark`, without trailing punctuation; empty when absent.
std::string word_after(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == std::string_view::npos) return "";
  auto rest = line.substr(at + mark.size());
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  auto word = rest.substr(0, rest.find_first_of(" \t,;'\")"));
  while (!word.empty() && (word.back() == '.' || word.back() == ':')) word.remove_suffix(1);
  return std::string(word);
}

int number_after(std::string_view line, std::string_view mark, int otherwise) {
  const std::string word = word_after(line, mark);
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) ? std::atoi(word.c_str()) : otherwise;
}

/// "user@host: Permission denied (publickey)."
std::string login_host(std::string_view line) {
  const auto at = line.find('@');
  const auto colon = line.find(": Permission denied");
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) return "";
  return std::string(line.substr(at + 1, colon - at - 1));
}

std::optional<MpirunEvent> ssh_event(std::string_view line) {
  if (has(line, "REMOTE HOST IDENTIFICATION HAS CHANGED")) return MpirunEvent{.kind = Kind::ssh_key_changed};
  if (has(line, "Host key for ") && has(line, " has changed"))
    return MpirunEvent{.kind = Kind::ssh_key_changed, .host = word_after(line, "Host key for ")};
  if (has(line, "host key is known for "))
    return MpirunEvent{.kind = Kind::ssh_key_unknown, .host = word_after(line, "host key is known for ")};
  if (has(line, "Host key verification failed")) return MpirunEvent{.kind = Kind::ssh_key_unknown};
  if (has(line, ": Permission denied (")) return MpirunEvent{.kind = Kind::ssh_denied, .host = login_host(line)};
  if (has(line, "ssh: connect to host "))
    return MpirunEvent{.kind = Kind::ssh_unreachable, .host = word_after(line, "ssh: connect to host ")};
  if (has(line, "ssh: Could not resolve hostname "))
    return MpirunEvent{.kind = Kind::ssh_unreachable, .host = word_after(line, "ssh: Could not resolve hostname ")};
  for (const char* mark : {"Connection closed by ", "Connection reset by ", "Connection timed out during banner exchange"})
    if (has(line, mark)) {
      const std::string host = word_after(line, mark);
      return MpirunEvent{.kind = Kind::ssh_unreachable, .host = host == "remote" ? "" : host};
    }
  if (has(line, "Timeout, server ")) return MpirunEvent{.kind = Kind::ssh_unreachable, .host = word_after(line, "server ")};
  return std::nullopt;
}

/// The ssh of a node failed: an event of it, or the node of what was said before without one.
std::optional<MpirunEvent> ssh_failed(const SshEnd& end, std::vector<MpirunEvent>& before) {
  constexpr int not_found = 127, ssh_itself = 255;
  for (auto event = before.rbegin(); event != before.rend(); ++event) {
    const bool of_a_node = event->kind == Kind::program_missing || event->kind == Kind::ssh_key_unknown || event->kind == Kind::ssh_key_changed ||
                           event->kind == Kind::ssh_denied || event->kind == Kind::ssh_unreachable;
    if (!of_a_node || !event->host.empty()) continue;
    event->host = end.host;
    return std::nullopt;
  }
  const Kind kind = end.exit_code == not_found    ? Kind::program_missing
                    : end.exit_code == ssh_itself ? Kind::ssh_unreachable
                                                  : Kind::daemon_not_started;
  return MpirunEvent{.kind = kind, .host = end.host};
}

std::optional<MpirunEvent> rank_event(std::string_view line) {
  if (has(line, "noticed that process rank "))
    return MpirunEvent{.kind = Kind::rank_killed,
                       .host = word_after(line, " on node "),
                       .rank = number_after(line, "process rank ", -1),
                       .signal = number_after(line, "on signal ", 0)};
  if (has(line, "has exited due to process rank ")) {
    return MpirunEvent{.kind = Kind::rank_ended, .rank = number_after(line, "process rank ", -1)};
  }
  if (has(line, "MPI_ABORT was invoked on rank "))
    return MpirunEvent{.kind = Kind::rank_ended, .rank = number_after(line, "on rank ", -1)};
  return std::nullopt;
}

std::optional<MpirunEvent> launcher_event(std::string_view line) {
  if (has(line, "There are not enough slots available")) return MpirunEvent{.kind = Kind::slots};
  if (has(line, "hostfile was provided that contains") || (has(line, "Open RTE") && has(line, "hostfile")) ||
      has(line, "error parsing hostfile"))
    return MpirunEvent{.kind = Kind::hostfile};
  if (has(line, "unable to reliably start one or more daemons") || has(line, "daemon has unexpectedly failed after launch") ||
      has(line, "A daemon died unexpectedly"))
    return MpirunEvent{.kind = Kind::daemon_not_started};
  if (has(line, "Remote daemon:")) return MpirunEvent{.kind = Kind::daemon_lost, .host = word_after(line, " on node ")};
  if (has(line, "unable to find the specified executable file")) return MpirunEvent{.kind = Kind::program_missing};
  if (has(line, "error while loading shared libraries")) return MpirunEvent{.kind = Kind::program_missing};
  if (has(line, "orted: No such file or directory") || has(line, "orted: command not found") ||
      has(line, "prted: No such file or directory") || has(line, "prted: command not found"))
    return MpirunEvent{.kind = Kind::program_missing};
  if (has(line, "time limit for job execution has been reached")) return MpirunEvent{.kind = Kind::time_limit};
  return std::nullopt;
}

/// Some banners name the node on a line of its own further down.
void fill_from_banner(MpirunEvent& event, std::string_view line) {
  if (!event.host.empty()) return;
  if (event.kind == Kind::program_missing && has(line, "Node:")) event.host = word_after(line, "Node:");
  if (event.kind == Kind::hostfile && has(line, "node:")) event.host = word_after(line, "node:");
  if (event.kind == Kind::rank_ended && line.starts_with("node ")) event.host = word_after(line, "node ");
  if (event.kind == Kind::rank_killed && event.signal == 0) event.host = word_after(line, "on node ");
}

bool known(const MpirunSample& sample, const MpirunEvent& event) {
  for (const MpirunEvent& old : sample.events)
    if (old.kind == event.kind && old.host == event.host && old.rank == event.rank) return true;
  return false;
}

}  // namespace

const char* to_string(MpirunEventKind kind) {
  static constexpr std::array<std::pair<Kind, const char*>, 12> names{
      {{Kind::slots, "slots"},
       {Kind::hostfile, "hostfile"},
       {Kind::daemon_not_started, "daemon_not_started"},
       {Kind::daemon_lost, "daemon_lost"},
       {Kind::rank_killed, "rank_killed"},
       {Kind::rank_ended, "rank_ended"},
       {Kind::program_missing, "program_missing"},
       {Kind::ssh_key_unknown, "ssh_key_unknown"},
       {Kind::ssh_key_changed, "ssh_key_changed"},
       {Kind::ssh_denied, "ssh_denied"},
       {Kind::ssh_unreachable, "ssh_unreachable"},
       {Kind::time_limit, "time_limit"}}};
  for (const auto& [value, name] : names)
    if (value == kind) return name;
  return "unknown";
}

std::optional<SshEnd> ssh_end_from_line(std::string_view line) {
  constexpr std::string_view to = "ssh to ", code = " ended with exit code ";
  const auto at = line.find(code);
  if (!line.starts_with(to) || at == std::string_view::npos) return std::nullopt;
  SshEnd end{.host = std::string(line.substr(to.size(), at - to.size())), .exit_code = number_after(line, code, -1)};
  if (end.host.empty() || end.host.find(' ') != std::string::npos || end.exit_code < 0) return std::nullopt;
  return end;
}

MpirunSample parse_mpirun_log(std::string_view text) {
  MpirunSample sample;
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto end_of_ssh = ssh_end_from_line(line);
    if (end_of_ssh && end_of_ssh->exit_code == 0) continue;
    std::optional<MpirunEvent> event = end_of_ssh ? ssh_failed(*end_of_ssh, sample.events) : ssh_event(line);
    if (end_of_ssh && !event) continue;
    if (!event) event = rank_event(line);
    if (!event) event = launcher_event(line);
    if (!event) {
      if (!sample.events.empty() && number - sample.events.back().line <= 8) fill_from_banner(sample.events.back(), line);
      continue;
    }
    event->line = number;
    event->text = std::string(line.substr(line.find_first_not_of(' ')));
    if (!known(sample, *event)) sample.events.push_back(std::move(*event));
  }
  return sample;
}

}  // namespace fabricgate
