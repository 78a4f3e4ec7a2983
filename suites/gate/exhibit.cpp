#include "suites/gate/exhibit.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "suites/gate/extract.hpp"

namespace fabricgate::suites {
namespace {

constexpr std::size_t longest_line = 64 << 20;  // host.fleet of 10,000 nodes has 20 MB

struct Line {
  std::string_view text;
  const std::string* file;
  int number;

  std::string place() const { return *file + ":" + std::to_string(number); }
};

Finding line_problem(const char* cause, const Line& line, const std::string& expected, const std::string& found) {
  Subject subject;
  subject.file = *line.file;
  subject.line = line.number;
  return make_finding(cause, subject, expected, found);
}

/// Lines of all files; a line that is there twice, letter for letter, is taken once.
std::vector<Line> split(const std::vector<RecordFile>& files) {
  std::vector<Line> lines;
  std::unordered_set<std::string_view> seen;
  for (const RecordFile& file : files) {
    const std::string_view text = file.text;
    int number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = text.substr(begin, end - begin);
      begin = end + 1;
      ++number;
      if (!line.empty() && seen.insert(line).second) lines.push_back({line, &file.name, number});
    }
  }
  return lines;
}

/// What the identity differs in, or empty.
std::string foreign(const RunIdentity& found, const RunIdentity& own) {
  if (found.run != own.run) return "run " + found.run;
  if (found.inventory != own.inventory) return "inventory " + found.inventory.substr(0, 12);
  if (found.build != own.build) return "build " + found.build;
  if (found.suite != own.suite) return "suite " + found.suite;
  return "";
}

/// "Node x left in this tier": one host, no sample, a verdict that keeps the gate shut.
bool is_statement(const Record& record) {
  return record.hosts.size() == 1 && record.sample.is_null() && !opens_gate(record.verdict) && record.verdict != Verdict::skip;
}

/// Empty when the record is about something the inventory and the catalogue know.
std::string shape_problem(const Inventory& inventory, const Check* check, const Exhibit& exhibit) {
  const Record& record = exhibit.record;
  if (check == nullptr) return "check '" + record.check + "'";
  if (record.tier != check->tier) return record.check + " in tier " + to_string(record.tier);
  if (record.hosts.empty()) return "no host";
  for (std::size_t i = 0; i < exhibit.nodes.size(); ++i)
    if (exhibit.nodes[i] < 0) return "node '" + record.hosts[i] + "'";
  if (record.attempt < 0) return "attempt " + std::to_string(record.attempt);
  if (is_statement(record)) return "";
  const bool one = check->scope == Scope::node || check->scope == Scope::rail;
  const bool two = check->scope == Scope::pair || check->scope == Scope::pair_rail;
  if (one && record.hosts.size() != 1) return record.check + " of " + std::to_string(record.hosts.size()) + " hosts";
  if (two && record.hosts.size() != 2) return record.check + " of " + std::to_string(record.hosts.size()) + " hosts";
  if (two && exhibit.nodes[0] >= exhibit.nodes[1]) return "a pair out of inventory order";
  if (check->tier < Tier::pair && record.attempt != 0) return record.check + " with attempt " + std::to_string(record.attempt) + ", which is measured once";
  const bool railed = check->scope == Scope::rail || check->scope == Scope::pair_rail;
  if (!railed) return "";
  for (const int node : exhibit.nodes) {
    const auto& spec = inventory.nodes[static_cast<std::size_t>(node)].spec;
    const auto has = [&](const Rail& rail) { return rail.name == record.rail && (check->applies == nullptr || check->applies(rail)); };
    if (!spec || std::none_of(spec->rails.begin(), spec->rails.end(), has)) return "rail '" + record.rail + "' of " + record.hosts[0];
  }
  return "";
}

/// A stored finding may lack its limit: records of older builds do.
void add_missing(std::vector<Finding>& to, const std::vector<Finding>& from) {
  for (const Finding& finding : from) {
    const auto same = [&](Finding other) {
      other.limit = finding.limit;
      return other == finding;
    };
    const auto found = std::find_if(to.begin(), to.end(), same);
    if (found == to.end())
      to.push_back(finding);
    else
      found->limit = finding.limit;
  }
}

/// A skip is one by its sample, never by its word.
void set_skip(const GateInput& input, const Judgement& again, Record& record) {
  const SuiteCheck* demand = input.suite.find(record.check);
  if (demand != nullptr && demand->may_skip && !record.reason.empty() && again.verdict == Verdict::skip) return;
  record.verdict = Verdict::inconclusive;
  record.findings = {make_finding("gate.not_measured", {.host = record.hosts[0], .rail = record.rail}, record.check + " measured",
                                  record.reason.empty() ? "skipped without a reason" : "skipped: " + record.reason)};
  record.findings[0].verdict = Verdict::inconclusive;
}

/// Sets the effective verdict, reason and findings of a record.
void judge_again(const GateInput& input, const NodeIndex& index, const Check& check, Record& record) {
  if (is_statement(record)) {
    record.verdict = worse(record.verdict, worst(record.findings));
    return;
  }
  Judgement again = judge_sample({input.inventory, input.limits, &index}, check, record);
  if (record.verdict == Verdict::skip) return set_skip(input, again, record);
  const Verdict stored = worse(record.verdict, worst(record.findings));
  const bool sampled = !record.sample.is_null();
  const bool edited = record.verdict != stored || worse(stored, again.verdict) != stored || again.verdict == Verdict::skip;
  if (sampled && input.new_limits) {
    record.verdict = again.verdict;
    record.reason = std::move(again.reason);
    record.findings = std::move(again.findings);
    if (record.verdict == Verdict::skip) set_skip(input, again, record);
    return;
  }
  if (edited) {
    Subject subject{.host = record.hosts[0], .rail = record.rail, .peer = record.hosts.size() == 2 ? record.hosts[1] : ""};
    record.reason = "recorded as " + std::string(to_string(record.verdict)) + ", its sample says " + to_string(again.verdict);
    record.verdict = Verdict::inconclusive;
    record.findings = {make_finding("gate.verdict_edited", subject, record.check + " as its sample says", record.reason)};
    for (Finding finding : again.findings) {
      finding.primary = false;
      finding.verdict = Verdict::inconclusive;  // which of the two is true is not known
      record.findings.push_back(std::move(finding));
    }
    return;
  }
  record.verdict = stored;
  if (again.verdict == stored && record.reason.empty()) record.reason = std::move(again.reason);
  // A stored inconclusive or not_run has its own reason; that there is no sample is its echo.
  if (sampled || record.findings.empty()) add_missing(record.findings, again.findings);
}

/// The finding says why the line is no evidence.
using LineResult = std::variant<std::monostate, Exhibit, Finding>;

LineResult read_line(const GateInput& input, const NodeIndex& index, const Line& line) {
  if (line.text.size() > longest_line)
    return line_problem("gate.record_unreadable", line, "a line of at most " + std::to_string(longest_line) + " bytes", std::to_string(line.text.size()) + " bytes");
  auto record = record_from_line(line.text);
  if (!record) return line_problem("gate.record_unreadable", line, "a record", record.error().what);
  const std::string other = foreign(record->identity, input.identity);
  if (!other.empty()) return line_problem("gate.record_foreign", line, "run " + input.identity.run, other);
  Exhibit exhibit;
  exhibit.record = std::move(*record);
  exhibit.place = line.place();
  for (const std::string& host : exhibit.record.hosts) {
    const auto found = index.find(host);
    exhibit.nodes.push_back(found == index.end() ? -1 : static_cast<int>(found->second));
  }
  const Check* check = find_check(exhibit.record.check);
  const std::string shape = shape_problem(input.inventory, check, exhibit);
  if (!shape.empty()) return line_problem("gate.record_unexpected", line, "a record of this inventory", shape);
  judge_again(input, index, *check, exhibit.record);
  extract(input, exhibit);
  return exhibit;
}

/// Same check, subject and attempt twice with different content: both stay, and neither can open the gate.
void mark_conflicts(std::vector<Exhibit>& records) {
  std::unordered_map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Record& record = records[i].record;
    const auto [place, fresh] = first.emplace(subject_key(record) + "#" + std::to_string(record.attempt), i);
    if (fresh) continue;
    Exhibit& earlier = records[place->second];
    Finding finding = make_finding("gate.record_conflict",
                                   {.host = record.hosts[0], .rail = record.rail, .peer = record.hosts.size() == 2 ? record.hosts[1] : ""},
                                   "one record of " + subject_key(record), earlier.place + " and " + records[i].place);
    for (Exhibit* exhibit : {&earlier, &records[i]}) {
      exhibit->record.verdict = worse(exhibit->record.verdict, Verdict::inconclusive);
      add_missing(exhibit->record.findings, {finding});
    }
  }
}

bool earlier(const Exhibit& a, const Exhibit& b) {
  return std::tie(a.record.tier, a.record.check, a.nodes, a.record.rail, a.record.attempt, a.place) <
         std::tie(b.record.tier, b.record.check, b.nodes, b.record.rail, b.record.attempt, b.place);
}

}  // namespace

std::vector<std::string> rail_names(const Inventory& inventory) {
  std::vector<std::string> names;
  const NodeClass* last = nullptr;
  for (const Node& node : inventory.nodes) {
    if (!node.spec || node.spec.get() == last) continue;
    last = node.spec.get();
    for (const Rail& rail : last->rails)
      if (std::find(names.begin(), names.end(), rail.name) == names.end()) names.push_back(rail.name);
  }
  return names;
}

Exhibits read_exhibits(const GateInput& input, const std::vector<RecordFile>& files) {
  const std::vector<Line> lines = split(files);
  const NodeIndex index = node_index(input.inventory);
  std::vector<LineResult> results(lines.size());
  std::atomic<std::size_t> next{0};  // lines differ in length by a factor of a thousand: each worker takes the next one
  const auto work = [&] {
    for (std::size_t i = next++; i < lines.size(); i = next++) results[i] = read_line(input, index, lines[i]);
  };
  const std::size_t workers = std::max<std::size_t>(1, std::min<std::size_t>(std::thread::hardware_concurrency(), lines.size() / 256 + 1));
  std::vector<std::thread> pool;
  for (std::size_t worker = 1; worker < workers; ++worker) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  Exhibits out;
  out.lines = lines.size();
  std::vector<Exhibit*> order;
  for (LineResult& result : results) {
    if (Finding* problem = std::get_if<Finding>(&result)) out.problems.push_back(std::move(*problem));
    if (Exhibit* exhibit = std::get_if<Exhibit>(&result)) order.push_back(exhibit);
  }
  std::sort(order.begin(), order.end(), [](const Exhibit* a, const Exhibit* b) { return earlier(*a, *b); });
  out.records.reserve(order.size());
  for (Exhibit* exhibit : order) out.records.push_back(std::move(*exhibit));
  mark_conflicts(out.records);
  return out;
}

}  // namespace fabricgate::suites
