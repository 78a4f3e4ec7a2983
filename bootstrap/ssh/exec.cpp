#include "bootstrap/ssh/exec.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fabricgate::bootstrap {
namespace {

constexpr std::size_t write_chunk = 64 * 1024;

}  // namespace

int signal_number(const std::string& name) {
  // RFC 4254 section 6.10, numbers of Linux on x86-64 and aarch64
  constexpr std::array<std::pair<const char*, int>, 13> known{{{"ABRT", 6},
                                                               {"ALRM", 14},
                                                               {"FPE", 8},
                                                               {"HUP", 1},
                                                               {"ILL", 4},
                                                               {"INT", 2},
                                                               {"KILL", 9},
                                                               {"PIPE", 13},
                                                               {"QUIT", 3},
                                                               {"SEGV", 11},
                                                               {"TERM", 15},
                                                               {"USR1", 10},
                                                               {"USR2", 12}}};
  for (const auto& [text, number] : known)
    if (name == text) return number;
  return 0;
}

Exec::Exec(ssh_session session, Command command, std::string line)
    : session_(session),
      command_(std::move(command)),
      line_(std::move(line)),
      deadline_(Deadline::in_seconds(command_.timeout_s)),
      input_size_(command_.input ? command_.input->size() : 0),
      channel_(ssh_channel_new(session)) {
  install_callbacks();
}

Exec::~Exec() {
  if (!channel_) return;
  ssh_remove_channel_callbacks(channel_.get(), &callbacks_);
  if (phase_ != Phase::run || closed_) return;
  if (!exited_ && broken_) (void)ssh_channel_request_send_signal(channel_.get(), "TERM");
  (void)ssh_channel_close(channel_.get());
}

void Exec::install_callbacks() {
  callbacks_.userdata = this;
  callbacks_.channel_data_function = [](ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr,
                                        void* self) {
    static_cast<Exec*>(self)->take(static_cast<const char*>(data), size, is_stderr != 0);
    return static_cast<int>(size);
  };
  callbacks_.channel_eof_function = [](ssh_session, ssh_channel, void* self) {
    static_cast<Exec*>(self)->output_ended_ = true;
  };
  callbacks_.channel_close_function = [](ssh_session, ssh_channel, void* self) {
    static_cast<Exec*>(self)->closed_ = true;
  };
  callbacks_.channel_exit_status_function = [](ssh_session, ssh_channel, int code, void* self) {
    static_cast<Exec*>(self)->exited_ = true;
    static_cast<Exec*>(self)->result_.exit_code = code;
  };
  callbacks_.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* name, int, const char*,
                                               const char*, void* self) {
    static_cast<Exec*>(self)->exited_ = true;
    static_cast<Exec*>(self)->result_.exit_code = 128 + signal_number(name);
  };
  ssh_callbacks_init(&callbacks_);
  if (channel_) ssh_set_channel_callbacks(channel_.get(), &callbacks_);
}

std::string Exec::doing() const {
  if (!command_.doing.empty()) return command_.doing;
  const auto& argv = command_.argv;
  if (argv.size() > 2 && argv[1] == "-c") return "command `" + argv[0] + " -c …`";
  constexpr std::size_t shown = 120;
  return "command `" + (line_.size() > shown ? line_.substr(0, shown) + "…" : line_) + "`";
}

Error Exec::error(ErrorKind kind, const std::string& what) const { return {kind, doing() + ": " + what, 0}; }

void Exec::take(const char* data, std::size_t size, bool is_stderr) {
  if (broken_) return;
  if (!is_stderr && command_.sink) {
    if (auto status = command_.sink({data, size}); !status) broken_ = status.error();
    return;
  }
  std::string& kept = is_stderr ? result_.err : result_.out;
  if (kept.size() + size > command_.max_output) {
    size = command_.max_output - kept.size();
    broken_ = error(ErrorKind::io, std::string(is_stderr ? "stderr" : "stdout") + " is longer than " +
                                       std::to_string(command_.max_output) + " bytes");
  }
  kept.append(data, size);
}

std::optional<Result<CommandResult>> Exec::advance() {
  for (;;) {
    const Phase before = phase_;
    if (auto ended = step()) return ended;
    if (phase_ != before) continue;
    if (!deadline_.passed()) return std::nullopt;
    broken_ = error(ErrorKind::timeout,
                    "did not end within " + std::to_string(static_cast<int>(command_.timeout_s * 1000)) + " ms");
    return Result<CommandResult>(*broken_);
  }
}

std::optional<Result<CommandResult>> Exec::step() {
  if (!channel_) return Result<CommandResult>(error(ErrorKind::bug, "ssh_channel_new failed"));
  if (broken_) return Result<CommandResult>(*broken_);
  switch (phase_) {
    case Phase::open:
      return open();
    case Phase::request:
      return request();
    case Phase::run:
      return run();
  }
  return std::nullopt;
}

std::optional<Result<CommandResult>> Exec::open() {
  const int code = ssh_channel_open_session(channel_.get());
  if (code == SSH_AGAIN) return std::nullopt;
  if (code != SSH_OK)
    return Result<CommandResult>(error(ErrorKind::io, std::string("open channel: ") + ssh_get_error(session_)));
  phase_ = Phase::request;
  return std::nullopt;
}

std::optional<Result<CommandResult>> Exec::request() {
  const int code = ssh_channel_request_exec(channel_.get(), line_.c_str());
  if (code == SSH_AGAIN) return std::nullopt;
  if (code != SSH_OK)
    return Result<CommandResult>(error(ErrorKind::io, std::string("exec request: ") + ssh_get_error(session_)));
  phase_ = Phase::run;
  return std::nullopt;
}

void Exec::end_input() {
  if (phase_ != Phase::run) broken_ = error(ErrorKind::timeout, "interrupted before it was begun");
  command_.hold_input = false;
  input_size_ = sent_;
  if (phase_ == Phase::run) send_input();
}

/// Bounded by the peer's window and by what the socket takes, so that a node never holds more than a chunk in memory.
void Exec::send_input() {
  if (input_ended_ || closed_ || exited_) return;
  while (sent_ < input_size_ && (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) == 0) {
    const auto length = static_cast<std::uint32_t>(std::min(write_chunk, input_size_ - sent_));
    const int taken = ssh_channel_write(channel_.get(), command_.input->data() + sent_, length);
    if (taken <= 0) break;
    sent_ += static_cast<std::size_t>(taken);
  }
  if (sent_ < input_size_ || command_.hold_input) return;
  (void)ssh_channel_send_eof(channel_.get());
  input_ended_ = true;
}

std::optional<Result<CommandResult>> Exec::run() {
  send_input();
  if (broken_) return Result<CommandResult>(*broken_);
  if (exited_ && (output_ended_ || closed_)) return Result<CommandResult>(std::move(result_));
  if (closed_ || ssh_is_connected(session_) == 0)
    return Result<CommandResult>(error(ErrorKind::io, "connection lost before the command ended"));
  return std::nullopt;
}

}  // namespace fabricgate::bootstrap
