#include "launch/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace fabricgate::launch {
namespace {

constexpr int all_signals[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

std::atomic<int> first_signal{0};

bool stays_ignored(int number) {
  struct sigaction now {};
  return number == SIGHUP && sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void on_signal(int number) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) return;
  std::signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : all_signals)
    if (!stays_ignored(number)) sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void end_at_interrupts() {
  for (const int number : all_signals)
    if (!stays_ignored(number)) std::signal(number, SIG_DFL);
}

bool interrupted() { return first_signal.load() != 0; }
int interrupt_signal() { return first_signal.load(); }

const char* interrupt_name() {
  switch (first_signal.load()) {
    case SIGINT: return "SIGINT";
    case SIGQUIT: return "SIGQUIT";
    case SIGHUP: return "SIGHUP";
    default: return "SIGTERM";
  }
}

}  // namespace fabricgate::launch
