/// Method. What measurements say they moved over a rail must have passed its interface, which counts more than that:
/// headers, warm-ups of attempts that failed, other traffic. So less is another wire. Only measurements that ended well
/// are held against it, and only readings that can be compared (link.counters passes none that ran backwards). A sender
/// whose bytes did not leave, or were not counted because it left the run, may be the cause of what its receivers lack:
/// theirs is looked at without its share.
#include <fmt/format.h>

#include <map>
#include <set>

#include "suites/checks/judging.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

using Port = std::pair<int, int>;  // node, rail

std::string gigabytes(double bytes) { return fmt::format("{:.3f} GB", bytes / 1e9); }

/// Its routes were found to lead elsewhere before.
bool known(const NodeResult& node, const std::string& rail) {
  for (const Finding& finding : node.findings)
    if (finding.primary && finding.cause == "pair.wrong_route" && finding.subject.rail == rail) return true;
  return false;
}

void blame(Fold& fold, const Counted& counted, bool sends, double moved) {
  const Limit& share = *fold.input.limits.find("link.traffic_share");
  const std::string rail = rail_names(fold.input.inventory)[static_cast<std::size_t>(counted.rail)];
  NodeResult& node = fold.node(counted.node);
  Finding finding =
      make_finding("link.traffic_elsewhere",
                   {.host = node.name, .netdev = counted.netdev, .rail = rail, .direction = sends ? "tx" : "rx"},
                   fmt::format("at least {} of the {} {} over the rail pass {}", percent_text(*share.low),
                               gigabytes(moved), sends ? "sent" : "received", counted.netdev),
                   gigabytes(sends ? counted.tx_bytes : counted.rx_bytes));
  finding.primary = !known(node, rail);
  fold.add(counted.node, Tier::link, held_against(std::move(finding), "link.traffic_share", share));
}

}  // namespace

void fold_traffic(Fold& fold) {
  const Limit* share = fold.input.limits.find("link.traffic_share");
  if (!fold.demanded("link.counters") || share == nullptr || !share->low) return;  // link.counters says so
  std::map<Port, double> sent, received;
  std::vector<const Counted*> all;
  for (const Exhibit& exhibit : fold.exhibits.records) {
    for (const Moved& moved : exhibit.moved) sent[{moved.node, moved.rail}] += moved.sent_bytes;
    if (exhibit.counted && opens_gate(exhibit.record.verdict)) all.push_back(&*exhibit.counted);
  }
  std::set<Port> departed;  // counted, and all of it
  std::set<int> astray;     // rails on which somebody's bytes were not
  for (const Counted* counted : all) {
    const Port port{counted->node, counted->rail};
    if (counted->tx_bytes >= *share->low * sent[port]) {
      departed.insert(port);
      continue;
    }
    astray.insert(port.second);
    blame(fold, *counted, true, sent[port]);
  }
  const auto lost = [&](const Moved& moved) {
    return moved.peer >= 0 ? departed.count({moved.peer, moved.rail}) == 0 : astray.count(moved.rail) != 0;
  };
  for (const Exhibit& exhibit : fold.exhibits.records)
    for (const Moved& moved : exhibit.moved)
      if (!lost(moved)) received[{moved.node, moved.rail}] += moved.received_bytes;
  for (const Counted* counted : all) {
    const double expected = received[{counted->node, counted->rail}];
    if (counted->rx_bytes < *share->low * expected) blame(fold, *counted, false, expected);
  }
}

}  // namespace fabricgate::suites
