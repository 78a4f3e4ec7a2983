#pragma once
/// The end of a run: fold, table on standard output, files of the run folder, exit code.
#include <string>
#include <vector>

#include "launch/gate/run_folder.hpp"

namespace fabricgate::launch {

/// What the verdict of a run rests on beside its records; read from setup and folder alone, so that `judge` says the same.
suites::GateInput gate_input(const RunFolder& folder, const Setup& setup, const suites::Suite& suite);

/// Judges what the folder holds under `suite`; returns the exit code. `host`: the machine the folder is on, where that may be
/// another than the reader's.
int report_run(const RunFolder& folder, const Setup& setup, const suites::Suite& suite, const std::string& host = "");

/// table.txt, summary.json and junit.xml in `folder`; all are tried, the first error is returned.
Status write_verdict(const std::string& folder, const Setup& setup, const GateResult& result);
/// records.jsonl and the verdict in the run's own folder.
Status write_result(const RunFolder& folder, const Setup& setup, const GateResult& result);

/// "`host` left in this tier, and why": the record that carries what the launcher knows of a node.
Record statement(const Setup& setup, Tier tier, const std::string& host, const Finding& finding, int attempt);

}  // namespace fabricgate::launch
