#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "launch/accept/worker.hpp"
#include "launch/commands/command.hpp"
#include "launch/commands/options.hpp"
#include "launch/gate/report.hpp"
#include "launch/interrupt.hpp"
#include "results/file.hpp"
#include "results/gate_result.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

struct Options {
  std::string folder, limits, suite;
  std::vector<std::string> tiers;
  bool write = false;
};

/// The setup of the run with the texts given in place of the run's.
Result<Setup> setup_of(const Options& options) {
  auto setup = RunFolder::load(options.folder);
  if (!setup) return setup.error();
  if (options.limits.empty() && options.suite.empty()) return setup;
  const DemandFiles files{options.limits, options.suite};
  if (auto read = read_demands(files, setup->job); !read) return read.error();
  return make_setup(std::move(setup->job), files);
}

Result<suites::Suite> suite_of(const Setup& setup, const std::vector<std::string>& names) {
  if (names.empty()) return setup.suite;
  std::vector<Tier> tiers;
  for (const std::string& name : names) {
    auto tier = parse_tier(name);
    if (!tier) return tier.error();
    tiers.push_back(*tier);
  }
  return suite_of_tiers(setup.suite, tiers);
}

/// Everything that `accept` demands. Less is a part of the demand, which all the same can be looked at, but is never ready.
bool is_part(const std::vector<Tier>& only) {
  const auto lacks = [&](Tier tier) { return std::find(only.begin(), only.end(), tier) == only.end(); };
  return !only.empty() && (lacks(Tier::host) || lacks(Tier::link) || lacks(Tier::pair) || lacks(Tier::collective));
}

ExitCode exit_code_of(const GateResult& result) {
  if (result.exit_code != ExitCode::ready || !is_part(result.only)) return result.exit_code;
  log::warn("what was asked for passes; it is a part of the demands, so the exit code is 2 and not 0");
  return ExitCode::inconclusive;
}

/// The run keeps its own verdict: one under other limits or another suite goes, with these, into a folder of its own.
Status write_again(const RunFolder& run, const Setup& setup, const GateResult& result) {
  const std::string& limits = setup.job.limits_text.empty() ? suites::default_limits_text() : setup.job.limits_text;
  const std::string& suite = setup.job.suite_text.empty() ? suites::default_suite_text() : setup.job.suite_text;
  const std::string folder = run.file("judged-" + sha256_hex(limits + suite).substr(0, 12));
  if (auto made = make_spool(folder); !made) return made;
  for (const auto& [name, text] : {std::pair{"/limits.yaml", &limits}, {"/suite.yaml", &suite}})
    if (auto written = write_file_atomic(folder + name, *text); !written) return written;
  if (auto written = write_verdict(folder, setup, result); !written) return written;
  fmt::print("written to {}\n", folder);
  return {};
}

}  // namespace

int run_judge(const std::vector<std::string>& arguments) {
  CLI::App app("Judges the stored samples of a run again. No node is contacted and nothing is written unless asked.",
               "fabricgate judge");
  Options options;
  app.add_option("run", options.folder, "run folder")->required();
  app.add_option("--limits", options.limits, "limits file instead of the run's");
  app.add_option("--suite", options.suite, "suite file instead of the run's");
  app.add_option("--tiers", options.tiers,
                 "demand only these tiers, e.g. host,link,pair,collective of a run of `accept`; with fewer than these the exit code is never 0")
      ->delimiter(',');
  app.add_flag("--write", options.write,
               "write table, summary and JUnit: of the run anew, with other limits or suite into RUN/judged-…");
  if (const auto code = parse_options(app, arguments)) return *code;
  if (options.write && !options.tiers.empty())
    return fail({ErrorKind::parse, "--write with --tiers: a part of a run has no verdict to be written", 0});
  const auto setup = setup_of(options);
  if (!setup) return fail(setup.error());
  const auto suite = suite_of(*setup, options.tiers);
  if (!suite) return fail(suite.error());
  const RunFolder folder(options.folder);
  suites::GateInput input = gate_input(folder, *setup, *suite);
  input.new_limits = !options.limits.empty();
  end_at_interrupts();  // records may be many, and until here nothing is to be kept
  const GateResult result = suites::gate(input, folder.record_files());
  catch_interrupts();
  fmt::print("{}", to_table(result));
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    (void)fail({ErrorKind::io, "the verdict could not be written to standard output", 0});
    return static_cast<int>(worse(result.verdict, Verdict::inconclusive) == result.verdict ? result.exit_code : ExitCode::inconclusive);
  }
  if (options.write)
    if (auto written = options.limits.empty() && options.suite.empty() ? write_result(folder, *setup, result) : write_again(folder, *setup, result); !written)
      return fail(written.error());
  return static_cast<int>(exit_code_of(result));
}

}  // namespace fabricgate::launch
