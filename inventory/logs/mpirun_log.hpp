#pragma once
/// What mpirun (Open MPI 4: ORTE, 5: PRRTE) and the ssh it starts say on standard error about a launch that went wrong.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricgate {

enum class MpirunEventKind {
  slots,              ///< fewer slots than ranks
  hostfile,           ///< the hostfile was refused
  daemon_not_started, ///< a daemon did not start; Open MPI does not say where, how its ssh ended does
  daemon_lost,        ///< connection to a node's daemon broke
  rank_killed,        ///< a rank ended by a signal
  rank_ended,         ///< a rank called abort or left without MPI_Finalize
  program_missing,    ///< executable or library not there
  ssh_key_unknown, ssh_key_changed, ssh_denied, ssh_unreachable,
  time_limit          ///< --timeout reached
};
const char* to_string(MpirunEventKind kind);

struct MpirunEvent {
  MpirunEventKind kind{};
  std::string host;  ///< as printed: node name, or the address ssh used; may be empty
  int rank = -1;
  int signal = 0;
  int line = 0;      ///< from 1
  std::string text;  ///< the line, without blanks before it
};

struct MpirunSample {
  std::vector<MpirunEvent> events;  ///< in order of the text, equal ones once
};

/// "ssh to HOST ended with exit code N", as ssh_script of launch/mpirun.hpp says.
struct SshEnd {
  std::string host;
  int exit_code = 0;
};
std::optional<SshEnd> ssh_end_from_line(std::string_view line);

/// Never fails; a text without known messages gives no events.
MpirunSample parse_mpirun_log(std::string_view text);

}  // namespace fabricgate
