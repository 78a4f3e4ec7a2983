/// The gate cannot be opened by absence, leaf by leaf: in one record of every check each key and each element is
/// deleted, emptied, cut, zeroed or made impossible. A run so changed is never READY, whether its verdict is the stored
/// one or was judged live from such a sample. What may be changed at will stands in `informative`, each with its
/// reason.
#include <gtest/gtest.h>

#include <set>

#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using nlohmann::json;

struct Informative {
  const char* check;  ///< "": of every check
  const char* above;  ///< path in the line, indices as *
  std::vector<std::string> leaves;
  const char* why;
};

const std::vector<Informative> informative{
    {"", "", {"elapsed_s", "started_unix_s"}, "when and how long was measured: no figure is made of them"},
    {"link.rdma_counters", "", {"reason"}, "names what the provider does not count, which the sample shows too"},
    {"stage.node",
     "/sample",
     {"clock_offset_s", "clock_error_s"},
     "not known from every launcher; host.facts has the offset and must"},
    {"stage.node", "/sample", {"lost_at_reboot"}, "told beside the verdict, and either is good"},
    {"host.facts", "/sample", {"clock_offset_s"}, "-1 s is within the limit"},
    {"host.facts",
     "/sample",
     {"architecture", "cpu_model", "numa_nodes", "os_id", "os_version", "ssh_interface"},
     "nothing is demanded of them"},
    {"host.facts",
     "/sample/netdevs/*",
     {"admin_up", "carrier", "carrier_changes", "mac", "mtu", "operstate", "speed_mbps"},
     "judged by link.rail, which reads them itself"},
    {"host.facts",
     "/sample/netdevs/*",
     {"driver", "pci"},
     "held against the declaration of hardware alone, which this run is not"},
    {"host.facts",
     "/sample/rdma_ports/*",
     {"link_layer", "netdev", "phys_state", "rate", "state"},
     "judged by link.rdma, which reads them itself"},
    {"link.cabling",
     "/sample",
     {"neighbours", "unreadable"},
     "without a switch that says its name: a skip, which the suite allows"},
    {"link.cabling", "/sample/neighbours", {"*"}, "the same"},
    {"link.cabling",
     "/sample/neighbours/*",
     {"chassis", "chassis_id", "port"},
     "the same, or only told with a finding"},
    {"pair.reach", "/sample/answers/*/next_hop", {"mac"}, "not every interface has neighbour entries, and a table may be full"},
    {"pair.rail", "/sample/a_to_b", {"longest_gap_s", "retransmitted"}, "0: told beside a finding, and a good value"},
    {"pair.rail", "/sample/b_to_a", {"longest_gap_s", "retransmitted"}, "the same"},
    {"pair.rail", "/sample/both/a_to_b", {"longest_gap_s"}, "the same"},
    {"pair.rail", "/sample/both/b_to_a", {"longest_gap_s"}, "the same"},
    {"", "/sample/a_to_b", {"sent_cpu_s_per_byte", "received_cpu_s_per_byte"}, "0: what it cost is told and not judged"},
    {"", "/sample/b_to_a", {"sent_cpu_s_per_byte", "received_cpu_s_per_byte"}, "the same"},
    {"pair.rdma", "/sample/a_end", {"gid_index", "memory"}, "another index may carry the address; any memory is told"},
    {"pair.rdma", "/sample/b_end", {"gid_index", "memory"}, "the same"},
    {"pair.rail", "/sample/flows/a_to_b", {"late"}, "0: told for who looks for lost segments, and a good value"},
    {"pair.rail", "/sample/flows/b_to_a", {"late"}, "the same"},
    {"pair.overlay", "/sample/a_to_b", {"longest_gap_s", "retransmitted"}, "the same"},
    {"pair.overlay", "/sample/b_to_a", {"longest_gap_s", "retransmitted"}, "the same"},
};

/// "/sample/netdevs/3/mtu" as "/sample/netdevs/*/mtu".
std::string plain(const json::json_pointer& place) {
  std::string out;
  for (json::json_pointer at = place; !at.empty(); at = at.parent_pointer()) {
    const std::string& token = at.back();
    const bool index = token.find_first_not_of("0123456789") == std::string::npos;
    out = "/" + (index ? "*" : token) + out;
  }
  return out;
}

bool matches(const Informative& entry, const std::string& check, const std::string& path) {
  if (*entry.check != '\0' && check != entry.check) return false;
  return std::any_of(entry.leaves.begin(), entry.leaves.end(),
                     [&](const std::string& leaf) { return path == std::string(entry.above) + "/" + leaf; });
}

void list_places(const json& value, const json::json_pointer& at, std::vector<json::json_pointer>& places) {
  if (!at.empty()) places.push_back(at);
  if (value.is_object())
    for (const auto& [key, child] : value.items()) list_places(child, at / key, places);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) list_places(value[i], at / i, places);
}

json without(json line, const json::json_pointer& place) {
  json& parent = line[place.parent_pointer()];
  if (parent.is_object())
    parent.erase(place.back());
  else
    parent.erase(static_cast<std::size_t>(std::stoul(place.back())));
  return line;
}

/// The line with the place changed in every way, and what was done.
std::vector<std::pair<std::string, json>> mutations(const json& line, const json::json_pointer& place) {
  std::vector<std::pair<std::string, json>> out{{"deleted", without(line, place)}};
  const json& now = line[place];
  const auto set = [&](const json& value) {
    if (value == now) return;
    json changed = line;
    changed[place] = value;
    out.emplace_back("set to " + value.dump(), std::move(changed));
  };
  for (const json& value : {json(nullptr), json(""), json("x"), json(0), json(-1), json(1e18), json(1e300),
                            json(std::int64_t{1'000'000'000'000'000'000}), json(json::array())})
    set(value);
  if (now.is_boolean()) set(!now.get<bool>());
  if (now.is_array() && now.size() > 1) set(json::array({now[0]}));
  if (now.is_object()) set(json::object());
  return out;
}

class Mutation : public testing::Test {
 protected:
  Mutation() {
    for (const Record& record : run_.records) lines_.push_back(to_line(record));
    base_ = read_exhibits(input_, {{"records.jsonl", joined(lines_)}});
  }

  /// The run with this line in place of record `index`; `anew`: its verdict is what the judge makes of the sample, as
  /// live and under other limits.
  bool opens(const std::string& line, std::size_t index, bool anew) {
    GateInput input = input_;
    input.new_limits = anew;
    Exhibits one = read_exhibits(input, {{"records.jsonl", line}});
    Exhibits all = base_;
    const Record& old = run_.records[index];
    const auto at = std::find_if(all.records.begin(), all.records.end(), [&](const Exhibit& exhibit) {
      return subject_key(exhibit.record) == subject_key(old);
    });
    all.records.erase(at);
    for (Exhibit& exhibit : one.records) all.records.push_back(std::move(exhibit));
    all.problems = std::move(one.problems);
    return gate(input, all).exit_code == ExitCode::ready;
  }

  GoodRun run_ = good_run({.nodes = 2, .rdma = true, .leaves = true});
  GateInput input_{.inventory = run_.inventory, .suite = run_.suite, .limits = run_.limits, .identity = run_.identity};
  std::vector<std::string> lines_;
  Exhibits base_;
};

TEST_F(Mutation, NoLeafOfAnyRecordCanBeLostCutOrBentAndTheGateStaysOpen) {
  ASSERT_EQ(gate(input_, base_).exit_code, ExitCode::ready);
  std::set<std::string> checks, open;
  std::set<const Informative*> used;
  for (std::size_t i = 0; i < run_.records.size(); ++i) {
    const std::string& check = run_.records[i].check;
    if (!checks.insert(check).second) continue;
    const json line = json::parse(lines_[i]);
    std::vector<json::json_pointer> places;
    list_places(line, json::json_pointer(), places);
    for (std::size_t at = 0; at < places.size(); at += TEST_STRIDE) {  // see gate_absence_test.cpp
      const auto& place = places[at];
      for (const auto& [what, changed] : mutations(line, place)) {
        const std::string text = changed.dump();
        const bool stored = opens(text, i, false);
        if (!stored && !opens(text, i, true)) continue;
        const auto entry = std::find_if(informative.begin(), informative.end(),
                                        [&](const Informative& each) { return matches(each, check, plain(place)); });
        if (entry == informative.end())
          open.insert(check + " " + plain(place) + " " + what + (stored ? "" : ", judged anew"));
        else
          used.insert(&*entry);
      }
    }
  }
  EXPECT_EQ(checks.size(), run_.suite.checks.size()) << "a check without a record in good_run";
  EXPECT_TRUE(open.empty()) << joined({open.begin(), open.end()});
  if (TEST_STRIDE > 1) return;  // not every entry was met
  for (const Informative& entry : informative)
    EXPECT_TRUE(used.count(&entry)) << entry.check << " " << entry.above << ": need not be listed";
}

}  // namespace
}  // namespace fabricgate::suites
