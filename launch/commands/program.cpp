#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "launch/build_id.hpp"
#include "launch/commands/command.hpp"
#include "launch/interrupt.hpp"
#include "results/log.hpp"
#include "results/verdict.hpp"

namespace fabricgate::launch {
namespace {

constexpr int usage = static_cast<int>(ExitCode::usage);

std::string help_text(const char* program, std::span<const Command> commands) {
  std::string out = fmt::format(
      "{0} {1}: from bare GPU machines to a training cluster that is proven ready.\n\n"
      "usage: {0} [--log debug|info|warn|error] COMMAND [OPTIONS]\n       {0} COMMAND --help | help COMMAND | --version | --help\n\ncommands:\n",
      program, version());
  for (const Command& command : commands) out += fmt::format("  {:<11}{} (needs {})\n", command.name, command.summary, command.needs);
  out += "\nexamples:\n";
  for (const Command& command : commands) out += fmt::format("  {}\n", command.example);
  out +=
      "\nexit codes: 0 ready, 1 not ready, 2 inconclusive, 64 usage, 70 internal error\n"
      "Results go to standard output, the log to standard error.\n";
  return out;
}

bool set_level(const std::string& name) {
  for (const auto& [text, level] : {std::pair{"debug", log::Level::debug}, {"info", log::Level::info}, {"warn", log::Level::warn},
                                    {"error", log::Level::error}})
    if (name == text) {
      log::set_level(level);
      return true;
    }
  return false;
}

std::string nearest(std::span<const Command> commands, const std::string& name) {
  std::string best;
  std::size_t common = 1;
  for (const Command& command : commands) {
    const std::string known = command.name;
    const auto end = std::mismatch(known.begin(), known.end(), name.begin(), name.end()).first;
    const auto length = static_cast<std::size_t>(end - known.begin());
    if (length > common) best = known, common = length;
  }
  return best;
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h" || word == "help"; }

int run_checked(const char* program, std::span<const Command> commands, std::vector<std::string> words) {
  while (words.size() >= 2 && words[0] == "--log") {
    if (!set_level(words[1])) {
      fmt::print(stderr, "{}: --log {}: one of debug, info, warn, error is needed\n", program, words[1]);
      return usage;
    }
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty()) {
    fmt::print(stderr, "{}", help_text(program, commands));
    return usage;
  }
  if (is_help(words[0]) && words.size() > 1 && !words[1].starts_with('-')) {  // `help gate` is `gate --help`
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (is_help(words[0])) {
    fmt::print("{}", help_text(program, commands));
    return 0;
  }
  if (words[0] == "--version") {
    fmt::print("{} {} (build {})\n", program, version(), own_build_id());
    return 0;
  }
  for (const Command& command : commands)
    if (words[0] == command.name) return command.run({words.begin() + 1, words.end()});
  const std::string near = nearest(commands, words[0]);
  fmt::print(stderr, "{}: unknown command '{}'{}; see {} --help\n", program, words[0], near.empty() ? "" : ", did you mean '" + near + "'?",
             program);
  return usage;
}

}  // namespace

int fail(const Error& error, int code) {
  fmt::print(stderr, "{}\n", error.what);
  return code;
}

int run_program(const char* program, std::span<const Command> commands, int argc, char** argv) {
  catch_interrupts();
  log::set_level(log::Level::info);
  try {
    return run_checked(program, commands, {argv + 1, argv + argc});
  } catch (const std::system_error& e) {
    // the reader of our output went away (`… | head`): no fault of ours, and no verdict was delivered
    if (e.code().value() != EPIPE) fmt::print(stderr, "{}: {}\n", program, e.what());
    return static_cast<int>(ExitCode::inconclusive);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: internal error: {}\n", program, e.what());
    return static_cast<int>(ExitCode::bug);
  }
}

}  // namespace fabricgate::launch
