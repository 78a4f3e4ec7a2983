/// Records of a large run read, judged again and summarised, against a plain parse of the same lines as JSON.
///   records_bench [NODES [RAILS [ROUNDS]]]     default 4096 8 6: stage, facts and rails of every node, fleet, collective, and
///   six rounds of disjoint pairs on every rail with reachability and overlay
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "results/gate_result.hpp"
#include "suites/gate/gate.hpp"
#include "suites/gate/good_run.hpp"

using namespace fabricgate;

namespace {

/// Wall time, and that of all processors together, which other load changes less.
struct Time {
  double wall_s = 0, processor_s = 0;
};

Time now() {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(wall).count(), static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
}

Time since(const Time& start) {
  const Time end = now();
  return {end.wall_s - start.wall_s, end.processor_s - start.processor_s};
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

/// Most memory this process had since then, e.g. "301388 kB".
std::string peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return line.substr(line.find_first_of("0123456789"));
  return "unknown";
}

Time parse_plain(const std::string& text) {
  const Time start = now();
  std::size_t members = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    members += nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end)).size();
    begin = end + 1;
  }
  const Time time = since(start);
  fmt::print("plain parse of the lines, one thread: {:.2f} s ({} members)\n", time.wall_s, members);
  return time;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  const suites::GoodRunShape shape{.nodes = argument(1, 4096), .rails = argument(2, 8), .rounds = argument(3, 6)};
  std::vector<suites::RecordFile> files{{"records.jsonl", ""}};
  std::string& text = files[0].text;
  std::size_t records = 0;
  const suites::GoodRun run = suites::good_run(shape, [&](Record record) {
    text += to_line(record) + "\n";
    ++records;
  });
  fmt::print("{} nodes, {} rails, {} rounds: {} records, {:.0f} MB\n", shape.nodes, shape.rails, shape.rounds, records,
             static_cast<double>(text.size()) / 1e6);
  const Time plain = parse_plain(text);
  reset_peak_memory();
  const Time start = now();
  const suites::GateInput input{run.inventory, run.suite, run.limits, run.identity};
  const suites::Exhibits exhibits = suites::read_exhibits(input, files);
  const double read = since(start).wall_s;
  const GateResult result = suites::gate(input, exhibits);
  const double folded = since(start).wall_s;
  const std::string table = to_table(result), summary = to_summary(result, run.identity, "bench"), junit = to_junit(result, run.identity, "bench");
  const Time all = since(start);
  fmt::print("read and judged {:.2f} s, folded {:.2f} s, written {:.2f} s ({:.1f} MB of output); {} cores\n", read, folded - read, all.wall_s - folded,
             static_cast<double>(table.size() + summary.size() + junit.size()) / 1e6, std::thread::hardware_concurrency());
  fmt::print("{}\njudged and summarised in {:.2f} s (goal 2 s), {:.2f} of a plain parse; processor time {:.2f} s, {:.2f} of the parse's; memory at most {}\n",
             result.text, all.wall_s, all.wall_s / plain.wall_s, all.processor_s, all.processor_s / plain.processor_s, peak_memory());
  return result.exit_code == ExitCode::ready ? 0 : 1;
}
