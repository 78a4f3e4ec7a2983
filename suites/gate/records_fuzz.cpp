/// Record lines come from files that anything may have written: no bytes may crash the reader, a judge or the fold, and a
/// few lines alone can never open the gate of a run that expects more.
#include <cstdint>

#include "results/gate_result.hpp"
#include "suites/gate/gate.hpp"
#include "suites/gate/good_run.hpp"

using namespace fabricgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const suites::GoodRun run = suites::good_run({.nodes = 3});
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto record = record_from_line(text.substr(0, text.find('\n')))) {
    const auto again = record_from_line(to_line(*record));
    if (!again || to_line(*again) != to_line(*record)) __builtin_trap();
  }
  const suites::GateInput input{run.inventory, run.suite, run.limits, run.identity};
  const GateResult result = suites::gate(input, {{"fuzz", text}});
  // Three nodes need 37 records; the shortest is longer than 200 bytes.
  if (result.exit_code == ExitCode::ready && size < 37 * 200) __builtin_trap();
  (void)to_table(result);
  (void)to_junit(result, run.identity, "fuzz");
  (void)to_summary(result, run.identity, "fuzz");
  return 0;
}
