/// Records of a large run read, judged again and summarised, against a plain parse of the same lines as JSON.
///   records_bench [NODES [RAILS [ROUNDS]]]     default 4096 8 6: stage, facts and rails of every node, fleet, collective, and
///   six rounds of disjoint pairs on every rail with reachability and overlay
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "results/gate_result.hpp"
#include "suites/gate/gate.hpp"
#include "suites/gate/good_run.hpp"

using namespace fabricgate;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double parse_plain(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  std::size_t members = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    members += nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end)).size();
    begin = end + 1;
  }
  const double elapsed = seconds_since(start);
  fmt::print("plain parse of the lines, one thread: {:.2f} s ({} members)\n", elapsed, members);
  return elapsed;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  const suites::GoodRunShape shape{.nodes = argument(1, 4096), .rails = argument(2, 8), .rounds = argument(3, 6)};
  suites::GoodRun run = suites::good_run(shape);
  std::vector<suites::RecordFile> files{{"records.jsonl", run.text()}};
  const std::size_t records = run.records.size();
  run.records.clear();
  run.records.shrink_to_fit();
  fmt::print("{} nodes, {} rails, {} rounds: {} records, {:.0f} MB\n", shape.nodes, shape.rails, shape.rounds, records,
             static_cast<double>(files[0].text.size()) / 1e6);
  const double plain = parse_plain(files[0].text);
  const auto start = std::chrono::steady_clock::now();
  const suites::GateInput input{run.inventory, run.suite, run.limits, run.identity};
  const suites::Exhibits exhibits = suites::read_exhibits(input, files);
  const double read = seconds_since(start);
  const GateResult result = suites::gate(input, exhibits);
  const double folded = seconds_since(start);
  const std::string table = to_table(result), summary = to_summary(result, run.identity, "bench"), junit = to_junit(result, run.identity, "bench");
  const double all = seconds_since(start);
  fmt::print("read and judged {:.2f} s, folded {:.2f} s, written {:.2f} s ({:.1f} MB of output); {} cores\n", read, folded - read, all - folded,
             static_cast<double>(table.size() + summary.size() + junit.size()) / 1e6, std::thread::hardware_concurrency());
  fmt::print("{}\njudged and summarised in {:.2f} s (goal 2 s), {:.2f} of a plain parse\n", result.text, all, all / plain);
  return result.exit_code == ExitCode::ready ? 0 : 1;
}
