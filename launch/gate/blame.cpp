#include "launch/gate/blame.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricgate::launch {
namespace {

void add(Blame& to, const Finding& finding) {
  const auto same = [&](const Finding& known) { return known.subject.host == finding.subject.host; };
  if (std::none_of(to.findings.begin(), to.findings.end(), same)) to.findings.push_back(finding);
}

Finding finding_of(const MpirunEvent& event) {
  const Subject subject{.host = event.host};
  switch (event.kind) {
    case MpirunEventKind::program_missing:
      return make_finding("launch.program_missing", subject, "the program and its libraries on the node", event.text);
    case MpirunEventKind::ssh_key_unknown:
      return make_finding("ssh.host_key_unknown", subject, "a known host key", event.text);
    case MpirunEventKind::ssh_key_changed:
      return make_finding("ssh.host_key_changed", subject, "the known host key", event.text);
    case MpirunEventKind::ssh_denied:
      return make_finding("ssh.permission_denied", subject, "login by key", event.text);
    case MpirunEventKind::ssh_unreachable:
      return make_finding("ssh.unreachable", subject, "an SSH connection", event.text);
    case MpirunEventKind::daemon_not_started:
      return make_finding("launch.daemon_failed", subject, "the launcher's daemon on the node reports to the head", event.text);
    case MpirunEventKind::daemon_lost:
      return make_finding("launch.daemon_lost", subject, "a launcher daemon that lives until the end of its job",
                          event.text);
    default:
      return make_finding("launch.daemon_lost", subject, "a rank that lives until the end of its job", event.text);
  }
}

/// What mpirun says of a rank that left by itself is an echo: all do when they are told to.
bool names_a_culprit(const JobEvidence& seen, const MpirunEvent& event) {
  return event.kind != MpirunEventKind::rank_ended &&
         std::find(seen.hosts.begin(), seen.hosts.end(), event.host) != seen.hosts.end();
}

/// Rank 0 says that it was told to end, and nothing says whose fault that is.
void tell_the_end(const JobEvidence& seen, Blame& found) {
  if (seen.timed_out || seen.status->state == "no_time") {
    found.reason = "the time of the job was over before its work was done: repair what the other findings name, where each repetition "
                   "waits, and run the gate again; where they name nothing, look at what else the nodes and the head are busy with";
  } else {
    found.reason = "the ranks of the job were told to end, and mpirun does not say why";
    found.again = true;
  }
}

}  // namespace

Blame nobody_answers(std::size_t hosts) {
  return {.reason = fmt::format("none of {} nodes answers over SSH any more: look at this machine's way to them first, then at what "
                                "they share",
                                hosts),
          .cut_off = true};
}

Blame blame(const JobEvidence& seen) {
  Blame found;
  if (seen.hosts.size() > 1 && seen.unreachable.size() == seen.hosts.size()) return nobody_answers(seen.hosts.size());
  if (seen.nobody_reached && !seen.given_up.empty() && seen.unreachable.empty())
    return {.reason = fmt::format("none of {} nodes answered over SSH for a while, and all do now", seen.hosts.size()), .again = true};
  for (const std::string& host : seen.unreachable)
    add(found, make_finding("launch.daemon_lost", {.host = host}, "a node that lives until the end of its job",
                            "the node no longer answers over SSH"));
  for (const auto& [host, finding] : seen.given_up) add(found, finding);
  found.complete = seen.status && seen.status->state == "complete" && found.findings.empty();
  if (seen.signal != 0 &&
      !found.decided()) {  // its daemons end the ranks then, each at its own time, so that some miss others
    found.reason = fmt::format("mpirun ended by signal {} on the head", seen.signal);
    found.again = true;
    return found;
  }
  if (seen.status)
    for (const Finding& finding : seen.status->findings)
      if (!finding.subject.host.empty()) add(found, finding);
  if (found.decided() || !seen.fetched || seen.interrupted) return found;
  const auto& events = seen.said.events;
  const auto event =
      std::find_if(events.begin(), events.end(), [&](const MpirunEvent& e) { return names_a_culprit(seen, e); });
  if (event != events.end())
    add(found, finding_of(*event));
  else if (seen.status)
    tell_the_end(seen, found);
  return found;
}

}  // namespace fabricgate::launch
