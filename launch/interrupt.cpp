#include "launch/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace fabricgate::launch {
namespace {

std::atomic<int> first_signal{0};

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
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void end_at_interrupts() {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
}

bool interrupted() { return first_signal.load() != 0; }
int interrupt_signal() { return first_signal.load(); }

}  // namespace fabricgate::launch
