#pragma once
/// SIGINT, SIGTERM, SIGQUIT and SIGHUP as a flag that every wait of ours looks at; the second one ends the process at once.
/// A SIGHUP that was ignored when we started (nohup) stays ignored.
namespace fabricgate::launch {

/// Installs the handlers; SIGPIPE is ignored.
void catch_interrupts();
/// Back to the signals' own effect, for a command that only reads: the first one ends it, wherever it is.
void end_at_interrupts();
bool interrupted();
/// The signal that came first, 0 when none did.
int interrupt_signal();
/// Its name, "SIGINT".
const char* interrupt_name();

}  // namespace fabricgate::launch
