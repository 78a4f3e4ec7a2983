#pragma once
/// One command on an authenticated session: exec channel, standard input, both outputs, exit code.
#include <memory>
#include <optional>
#include <string>

#include "bootstrap/ssh/handles.hpp"
#include "bootstrap/ssh/pool.hpp"

namespace fabricgate::bootstrap {

/// Signal number of an SSH signal name ("KILL"), 0 when unknown.
int signal_number(const std::string& name);

class Exec {
 public:
  Exec(ssh_session session, Command command, std::string line);
  ~Exec();
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;

  /// As far as it goes without waiting; call after the session was pumped. Nullopt while it goes on. An error means
  /// that the session is of no more use.
  std::optional<Result<CommandResult>> advance();
  /// Ends the input where it is; a command that was not requested yet never is.
  void end_input();
  Deadline deadline() const { return deadline_; }
  /// "uploading /opt/x", else the command line.
  std::string doing() const;

 private:
  enum class Phase { open, request, run };

  std::optional<Result<CommandResult>> step();
  std::optional<Result<CommandResult>> open();
  std::optional<Result<CommandResult>> request();
  std::optional<Result<CommandResult>> run();
  void send_input();
  void take(const char* data, std::size_t size, bool is_stderr);
  Error error(ErrorKind kind, const std::string& what) const;
  void install_callbacks();

  ssh_session session_;
  Command command_;
  std::string line_;
  Deadline deadline_;
  Phase phase_ = Phase::open;
  CommandResult result_;
  std::optional<Error> broken_;
  std::size_t sent_ = 0, input_size_ = 0;
  bool input_ended_ = false, output_ended_ = false, exited_ = false, closed_ = false;
  ssh_channel_callbacks_struct callbacks_{};
  SshChannel channel_;
};

}  // namespace fabricgate::bootstrap
