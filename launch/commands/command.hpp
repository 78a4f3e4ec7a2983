#pragma once
/// A subcommand is a row of a table. Parsing of its options is its own business (commands/*.cpp).
#include <span>
#include <string>
#include <vector>

#include "results/result.hpp"
#include "results/verdict.hpp"

namespace fabricgate::launch {

struct Command {
  const char* name;
  const char* summary;  ///< one line
  const char* needs;    ///< what must be there: "nothing", "ssh to the nodes", …
  const char* example;
  int (*run)(const std::vector<std::string>& arguments);  ///< arguments after the name; returns the exit code
};

int run_inventory(const std::vector<std::string>& arguments);
int run_plan(const std::vector<std::string>& arguments);
int run_stage(const std::vector<std::string>& arguments);
int run_unstage(const std::vector<std::string>& arguments);
int run_accept(const std::vector<std::string>& arguments);
/// The same of fabricgate-rank, which it calls itself.
int run_rank_accept(const std::vector<std::string>& arguments);
int run_gate(const std::vector<std::string>& arguments);
int run_judge(const std::vector<std::string>& arguments);
int run_causes(const std::vector<std::string>& arguments);

/// The error on standard error as it is, file:line:column first, so that editors find the place; the code back.
int fail(const Error& error, int code = static_cast<int>(ExitCode::usage));

/// What every main does: interrupts, log level, exceptions → 70, unknown command → 64.
int run_program(const char* program, std::span<const Command> commands, int argc, char** argv);

}  // namespace fabricgate::launch
