#pragma once
/// Why a job does not start: what the nodes know of the daemon that mpirun wants on each of them, and which of it is a
/// fault of the node. A daemon that is not there yet, or has not called the head yet, may be one of a slow node.
#include <optional>
#include <string>

#include "results/finding.hpp"

namespace fabricgate::launch {

/// The daemon of the run on one node.
struct DaemonReading {
  int pid = 0;             ///< 0: none there
  char state = '?';        ///< of the process as /proc says
  bool connected = false;  ///< it has a TCP connection to another machine
  std::string calls;       ///< "ADDRESS:PORT" that it tries to connect to, empty: none
  std::string unwritable;  ///< none there: why the session folder cannot be written
  std::string unreached;   ///< none there: why the head cannot be connected to

  friend bool operator==(const DaemonReading&, const DaemonReading&) = default;
};

/// sh -c SCRIPT sh RUN [ADDRESS PORT]: looks for the daemon that has RUN on its command line. Where there is none it
/// tries to write to the session folder, and to connect to the head where ADDRESS and PORT say where it listens. Exits
/// 0.
inline constexpr const char* daemon_script = R"sh(
for p in /proc/[0-9]*; do
  read -r name <"$p/comm" && case $name in orted | prted) tr '\0' ' ' <"$p/cmdline" | grep -qF "$1" ;; *) false ;; esac || continue
  echo "daemon ${p#/proc/} $(sed 's/.*) //' "$p/stat" | cut -c1)"
  ls -l "$p/fd" | sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p' |
    awk 'NR == FNR { own[$1]; next } ($10 in own) && $4 != "0A" && $3 !~ /^0100007F:/ { print "tcp", $4, $3 }' - "$p/net/tcp"
  exit 0
done 2>/dev/null
made=$(mktemp -d "${TMPDIR:-/tmp}/fabricgate.XXXXXX" 2>&1) && rmdir "$made" || echo "unwritable ${made#mktemp: }"
if [ -n "$3" ] && command -v bash >/dev/null && command -v timeout >/dev/null; then
  said=$(timeout 3 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$2" "$3" 2>&1) || echo "unreached $2:$3: $([ -n "$said" ] && echo "${said##*: }" || echo no answer)"
fi
exit 0)sh";
DaemonReading daemon_from_text(const std::string& text);

/// What of the node keeps its daemon from reporting to the head. `started`: ssh says that it started the daemon;
/// `waited_s` is 0 as long as it may be merely slow.
std::optional<Finding> start_trouble(const std::string& host, const DaemonReading& daemon, bool started,
                                     double waited_s);

}  // namespace fabricgate::launch
