#include "fabric/collective/all_reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "fabric/collective/rail_run.hpp"

namespace fabricgate::fabric {
namespace {

using Rails = std::vector<std::unique_ptr<UcxRail>>;
/// CBOR of {"addresses": [binary per rail]} or {"error": text}; rank 0 sends out the list of all participants'.
using nlohmann::json;

constexpr double margin_s = 3;  // between rank 0 giving up and the others giving up on rank 0

json open_rails(const CollectiveOrder& order, int self, Rails& rails) {
  json addresses = json::array();
  for (const auto& rail : order.rails) {
    auto opened = UcxRail::open(rail.netdevs[static_cast<std::size_t>(self)]);
    if (!opened) return {{"error", fmt::format("{}: {}", rail.name, opened.error().what)}};
    const auto& address = (*opened)->address();
    addresses.push_back(json::binary(std::vector<std::uint8_t>(address.begin(), address.end())));
    rails.push_back(std::move(*opened));
  }
  return {{"addresses", addresses}};
}

std::string packed(const json& value) {
  const auto bytes = json::to_cbor(value);
  return std::string(bytes.begin(), bytes.end());
}

/// Rank 0: one entry per participant, null for one that did not arrive.
json by_participant(const CollectiveOrder& order, const std::vector<std::optional<std::string>>& gathered) {
  json list = json::array();
  for (const int rank : order.ranks) {
    const auto index = static_cast<std::size_t>(rank);
    json entry;
    if (index < gathered.size() && gathered[index]) entry = json::from_cbor(*gathered[index], true, false);
    list.push_back(entry.is_discarded() ? json() : entry);
  }
  return list;
}

bool holds_addresses(const json& entry, std::size_t rails) {
  if (!entry.is_object() || !entry.contains("addresses") || !entry["addresses"].is_array()) return false;
  const auto& list = entry["addresses"];
  return list.size() == rails && std::all_of(list.begin(), list.end(), [](const json& one) { return one.is_binary(); });
}

/// Who is missing or could not open its rails; true when all may start.
bool all_here(const CollectiveOrder& order, const json& list, CollectiveSample& sample) {
  if (!list.is_array() || list.size() != order.ranks.size()) {
    sample.error = "rank 0 sent a list of addresses that does not fit the order";
    return false;
  }
  for (std::size_t index = 0; index < list.size(); ++index) {
    const auto& entry = list[index];
    if (holds_addresses(entry, order.rails.size())) continue;
    const bool says = entry.is_object() && entry.contains("error") && entry["error"].is_string();
    if (!says) sample.missing.push_back(order.hosts[index]);
    sample.error += fmt::format("{}{}: {}", sample.error.empty() ? "" : "; ", order.hosts[index],
                                says ? entry["error"].get<std::string>() : "did not arrive");
  }
  return sample.error.empty();
}

std::vector<std::string> addresses_on(const json& list, std::size_t rail) {
  std::vector<std::string> addresses;
  for (const auto& entry : list) {
    const auto& bytes = entry["addresses"][rail].get_binary();
    addresses.emplace_back(bytes.begin(), bytes.end());
  }
  return addresses;
}

RankReport broken(const std::string& error) {
  RankReport report;
  report.error = error;
  return report;
}

class Participant {
 public:
  Participant(const CollectiveOrder& order, int self, const CollectiveHooks* hooks, Deadline deadline)
      : order_(order), self_(self), hooks_(hooks), deadline_(deadline) {}

  json open() { return open_rails(order_, self_, rails_); }

  /// One thread per rail. Connections stay open until this object goes: others may still need our last words.
  RankReport run(const json& list) {
    std::vector<RankReport> reports(rails_.size());
    std::vector<std::thread> threads;
    neighbours_.resize(rails_.size());
    for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
      try {
        threads.emplace_back([this, &list, &reports, rail] { reports[rail] = run_one(list, rail); });
      } catch (const std::exception& problem) {
        reports[rail] = broken(fmt::format("starting a thread: {}", problem.what()));
      }
    }
    for (auto& thread : threads) thread.join();
    return merge_rails(reports);
  }

 private:
  RankReport run_one(const json& list, std::size_t rail) {
    try {
      auto connected = Neighbours::connect(*rails_[rail],
                                           {.self = self_,
                                            .hosts = order_.hosts,
                                            .addresses = addresses_on(list, rail),
                                            .rail = order_.rails[rail].name,
                                            .connect_s = order_.connect_s,
                                            .stall_s = order_.stall_s},
                                           deadline_);
      if (!connected) return broken(connected.error().what);
      neighbours_[rail] = std::move(*connected);
      return run_rail(*neighbours_[rail], order_, {.rail = rail, .self = self_, .hooks = hooks_});
    } catch (const std::exception& problem) {
      return broken(problem.what());
    }
  }

  const CollectiveOrder& order_;
  const int self_;
  const CollectiveHooks* hooks_;
  Deadline deadline_;
  Rails rails_;
  std::vector<std::unique_ptr<Neighbours>> neighbours_;  // after the rails: goes first
};

int participant_of(const CollectiveOrder& order, int rank) {
  const auto found = std::find(order.ranks.begin(), order.ranks.end(), rank);
  return found == order.ranks.end() ? -1 : static_cast<int>(found - order.ranks.begin());
}

/// gather, `fold` at rank 0, broadcast of what it made.
template <class Fold>
Result<json> meet(Rendezvous& rendezvous, const json& mine, Deadline deadline, Fold fold) {
  auto gathered = rendezvous.gather(packed(mine), deadline);
  if (!gathered) return gathered.error();
  const auto text = rendezvous.rank() == 0 ? packed(fold(*gathered)) : std::string();
  auto heard = rendezvous.broadcast(text, Deadline::in_seconds(deadline.left_s() + margin_s));
  if (!heard) return heard.error();
  return json::from_cbor(*heard, true, false);
}

CollectiveSample failed(CollectiveSample sample, const std::string& error) {
  sample.error = error;
  return sample;
}

json fold_reports(const CollectiveOrder& order, const std::vector<std::optional<std::string>>& gathered) {
  std::vector<std::optional<RankReport>> reports;
  for (const auto& entry : by_participant(order, gathered)) {
    auto report = rank_report_from_json(entry);
    reports.push_back(report ? std::optional(*report) : std::nullopt);
  }
  return to_json_value(summarise(order, reports));
}

}  // namespace

CollectiveSample run_all_reduce(Rendezvous& rendezvous, const CollectiveOrder& order, const CollectiveHooks* hooks) {
  const auto deadline = Deadline::in_seconds(order.deadline_s);
  auto sample = empty_sample(order);
  if (auto ok = check_order(order); !ok) return failed(sample, ok.error().what);
  const int self = participant_of(order, rendezvous.rank());
  Participant participant(order, self, hooks, deadline);
  const json mine = self >= 0 ? participant.open() : json::object();
  auto list = meet(rendezvous, mine, deadline.at_most(order.connect_s),
                   [&](const auto& gathered) { return by_participant(order, gathered); });
  if (!list) return failed(sample, list.error().with("swapping addresses").what);
  if (!all_here(order, *list, sample)) return sample;
  const json report = self >= 0 ? to_json_value(participant.run(*list)) : json::object();
  // All end at about the same time: whoever is later than one standing still allows has hung.
  const auto limit = self >= 0 ? deadline.at_most(2 * order.stall_s + 1) : deadline;
  const auto patient = rendezvous.rank() == 0 ? limit : deadline;
  auto folded = meet(rendezvous, report, patient, [&](const auto& gathered) { return fold_reports(order, gathered); });
  if (!folded) return failed(sample, folded.error().with("collecting reports").what);
  auto whole = collective_sample_from_json(*folded);
  return whole ? *whole : failed(sample, whole.error().what);
}

}  // namespace fabricgate::fabric
