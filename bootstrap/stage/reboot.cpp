#include "bootstrap/stage/reboot.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

namespace fabricgate::bootstrap {
namespace {

constexpr const char* script = R"sh(boot=$(cat /proc/sys/kernel/random/boot_id) || exit 1
[ "$boot" != "$2" ] || exit 4
[ "$boot" = "$1" ] || exit 3
if [ -d /run/systemd/system ]; then exec systemctl --no-block reboot; fi
(sleep 1; sync; reboot -f) </dev/null >/dev/null 2>&1 &
)sh";

bool is_settled_by_reboot(const Finding& finding) {
  if (finding.verdict != Verdict::blocked) return false;
  for (const char* cause :
       {"kernel.cmdline_pending", "rdma.netns_mode", "firmware.setting_pending", "driver.reboot_required"})
    if (finding.cause == cause) return true;
  return false;
}

bool stops_reboot(const Finding& finding) {
  return finding.cause == "stage.node_busy" || finding.cause == "launch.interrupted";
}

/// Whether nothing but a reboot is left to do, whichever machine it is.
bool only_reboot_is_left(const NodeReport& report) {
  return report.state != NodeState::unreachable && !boot_id_of(report).empty() &&
         std::none_of(report.findings.begin(), report.findings.end(), stops_reboot) &&
         std::any_of(report.findings.begin(), report.findings.end(), is_settled_by_reboot);
}

void leave_alone(NodeReport& report, const char* cause, const std::string& expected, const std::string& found) {
  report.findings.push_back(make_finding(cause, {.host = report.name}, expected, found));
  report.state = worst(report.findings) == Verdict::blocked ? NodeState::blocked : NodeState::failed;
  report.reason = std::string(cause) + ": " + found;
}

using Reports = std::vector<NodeReport*>;

std::vector<std::size_t> nodes_of(const Reports& reports) {
  std::vector<std::size_t> out;
  for (const NodeReport* report : reports) out.push_back(report->node);
  return out;
}

/// Takes out those that have a reason, and names them.
void without(Reports& reports, const std::map<std::size_t, std::string>& reasons, const char* cause,
             const std::string& expected) {
  std::erase_if(reports, [&](NodeReport* report) {
    const auto reason = reasons.find(report->node);
    if (reason == reasons.end()) return false;
    leave_alone(*report, cause, expected, reason->second);
    return true;
  });
}

/// Those that were told to go; who could not be drained or told is named and left alone.
Reports told(Reports wave, const RebootMeans& means) {
  without(wave, means.drain(nodes_of(wave)), "stage.drain_failed", "the node drained before its reboot");
  if (means.stop()) return {};
  without(wave, means.order({wave.begin(), wave.end()}), "stage.reboot_refused", "the node reboots");
  return wave;
}

/// Waits for another boot id; returns those that did not come back.
Reports missing_of(Reports waiting, const RebootRules& rules, const RebootMeans& means) {
  const Deadline deadline = Deadline::in_seconds(rules.timeout_s);
  while (!waiting.empty() && !deadline.passed() && !means.stop()) {
    const auto ids = means.boot_ids(nodes_of(waiting));
    std::erase_if(waiting, [&](const NodeReport* report) {
      const auto id = ids.find(report->node);
      return id != ids.end() && !id->second.empty() && id->second != boot_id_of(*report);
    });
    if (!waiting.empty()) means.pause();
  }
  return waiting;
}

Status stage_again(const Reports& back, const RebootMeans& means) {
  if (back.empty()) return {};
  auto again = means.stage(nodes_of(back));
  if (!again) return again.error().with("stage after the reboot");
  for (NodeReport& fresh : *again)
    for (NodeReport* report : back)
      if (report->node == fresh.node) *report = std::move(fresh);
  return {};
}

/// False: no further wave.
Result<bool> run_wave(const Reports& wave, const RebootRules& rules, const RebootMeans& means) {
  const Reports gone = told(wave, means);
  const Reports missing = missing_of(gone, rules, means);
  for (NodeReport* report : missing)
    leave_alone(*report, "stage.reboot_lost", "the node back after its reboot",
                means.stop() ? "interrupted while it was rebooting"
                             : "no answer with another boot id within " +
                                   std::to_string(static_cast<long>(rules.timeout_s)) + " s");
  Reports back;
  std::copy_if(gone.begin(), gone.end(), std::back_inserter(back),
               [&](NodeReport* report) { return std::find(missing.begin(), missing.end(), report) == missing.end(); });
  if (auto status = stage_again(back, means); !status) return status.error();
  return missing.empty() && !means.stop();
}

}  // namespace

std::size_t Wave::of(std::size_t waiting) const {
  if (nodes > 0) return nodes;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::floor(share * static_cast<double>(waiting))));
}

/// A share of w nodes rounded down is more than half of that share of w from 2 / share on, and below that there are no
/// more waves than nodes.
std::size_t Wave::most(std::size_t all) const {
  if (nodes > 0) return (all + nodes - 1) / nodes;
  return std::min(all, static_cast<std::size_t>(std::ceil(2 / share)));
}

Result<Wave> parse_wave(const std::string& text) {
  const bool percent = !text.empty() && text.back() == '%';
  const std::string digits = percent ? text.substr(0, text.size() - 1) : text;
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc() || end != digits.data() + digits.size() || number == 0 || (percent && number > 100))
    return Error{ErrorKind::parse, "wave '" + text + "': expected a number of nodes, or a share from 1% to 100%", 0};
  return percent ? Wave{.share = static_cast<double>(number) / 100} : Wave{.nodes = number};
}

std::string boot_id_of(const NodeReport& report) {
  return report.machine.substr(0, report.machine.find('/'));
}

bool waits_for_reboot(const NodeReport& report, const std::string& head_boot_id) {
  return !head_boot_id.empty() && boot_id_of(report) != head_boot_id && only_reboot_is_left(report);
}

std::vector<std::string> reboot_command(const std::string& boot_id, const std::string& head_boot_id) {
  return {"/bin/sh", "-c", script, "reboot", boot_id, head_boot_id};
}

Status reboot_in_waves(std::vector<NodeReport>& reports, const RebootRules& rules, const RebootMeans& means) {
  Reports waiting;
  for (NodeReport& report : reports) {
    if (waits_for_reboot(report, rules.head_boot_id))
      waiting.push_back(&report);
    else if (boot_id_of(report) == rules.head_boot_id && only_reboot_is_left(report))
      leave_alone(report, "stage.reboot_refused", "the node reboots", "it leads this stage: reboot it by hand, then stage again");
  }
  const std::size_t size = rules.wave.of(waiting.size());
  for (std::size_t begin = 0; begin < waiting.size() && !means.stop(); begin += size) {
    const std::size_t end = std::min(waiting.size(), begin + size);
    Reports wave(waiting.begin() + static_cast<std::ptrdiff_t>(begin),
                 waiting.begin() + static_cast<std::ptrdiff_t>(end));
    if (begin > 0) {  // the first look may be an hour old
      if (auto status = stage_again(wave, means); !status) return status;
      std::erase_if(wave, [&](const NodeReport* report) { return !waits_for_reboot(*report, rules.head_boot_id); });
    }
    const auto on = run_wave(wave, rules, means);
    if (!on) return on.error();
    if (!*on) break;
  }
  return {};
}

}  // namespace fabricgate::bootstrap
