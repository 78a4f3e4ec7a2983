#pragma once
/// What the head runs on a node to end ranks that a job left behind.

namespace fabricgate::launch {

/// sh -c SCRIPT sh FILE, FILE being process_spool of a run: SIGKILL to the processes noted in it whose start time is still
/// the noted one, so that a pid that was given out again is left alone. Always exits 0.
inline constexpr const char* clean_up_script =
    "[ -f \"$1\" ] || exit 0; sed -n 's/.*\"pid\":\\([0-9][0-9]*\\).*\"start_ticks\":\"\\([0-9][0-9]*\\)\".*/\\1 \\2/p' \"$1\" | "
    "while read -r p t; do s=$(sed 's/.*) //' \"/proc/$p/stat\" 2>/dev/null | cut -d' ' -f20); "
    "[ \"$s\" = \"$t\" ] && kill -9 \"$p\"; done; exit 0";

}  // namespace fabricgate::launch
