#pragma once
/// What the head runs on a node to end ranks and launcher daemons that a job left behind and to give the node back.

namespace fabricgate::launch {

/// sh -c SCRIPT sh FILE CLAIM RUN, FILE being process_spool of the run: SIGKILL to the processes noted in it whose start
/// time is still the noted one, so that a pid that was given out again is left alone; then to launcher daemons that
/// have a file of RUN on their command line. Then CLAIM, being claim_path, is emptied where it names RUN, so that nobody
/// waits for the end of its lease. Of the folders of runs beside the run's only the 16 newest by name are kept,
/// beside its own. Always
/// exits 0.
inline constexpr const char* clean_up_script =
    "[ -f \"$1\" ] && sed -n 's/.*\"pid\":\\([0-9][0-9]*\\).*\"start_ticks\":\"\\([0-9][0-9]*\\)\".*/\\1 \\2/p' \"$1\" | "
    "while read -r p t; do s=$(sed 's/.*) //' \"/proc/$p/stat\" 2>/dev/null | cut -d' ' -f20); "
    "[ \"$s\" = \"$t\" ] && kill -9 \"$p\"; done; "
    "for d in /proc/[0-9]*; do read -r n 2>/dev/null <\"$d/comm\"; case $n in orted|prted) "
    "tr '\\0' ' ' 2>/dev/null <\"$d/cmdline\" | grep -qF \"/$3/\" && kill -9 \"${d#/proc/}\";; esac; done; "
    "s=${1%/*/*}; ls -1 \"$s\" 2>/dev/null | grep -xE '[0-9]{8}-[0-9]{6}-[0-9a-f]{6}' | grep -vxF \"$3\" | sort | head -n -16 | "
    "while read -r r; do rm -rf -- \"${s:?}/$r\"; done; "
    "grep -qsF \"\\\"run\\\":\\\"$3\\\"\" \"$2\" && : >\"$2\"; exit 0";

}  // namespace fabricgate::launch
