# Faults of a node as a whole, and of the ranks that run on it.

fault duplicate-hostname 'OTHER' "the node has OTHER's host name"
fault disk-full          ''      'nothing can be written to /opt/fabricgate and /var/tmp'
fault read-only-root     ''      'the disk is mounted read-only'
fault launcher-missing   '[SECONDS [PATTERN [DELAY]]]' "Open MPI's daemon on the node fails at once, so its ranks never start; with SECONDS as for rank-stop"
fault launcher-broken    'SECONDS' "Open MPI's daemon on the node answers --help; started for a job it does nothing for SECONDS and ends well"
fault tmp-read-only      ''      'nothing can be written to /tmp'
fault head-filtered      ''      "what the node sends to the launcher's ports on this machine is dropped"
fault head-unroutable    ''      "the node has no route to the launcher's ports on this machine"
fault node-vanish        '[SECONDS [PATTERN [DELAY]]]' 'power lost: links dead, all processes gone; mend boots it. With SECONDS as for rank-stop'
fault rank-stop          '[SECONDS [PATTERN [DELAY]]]' 'SIGSTOP to the rank; waits up to SECONDS (30) for a program of fabricgate whose command line matches PATTERN; hits it DELAY seconds later'
fault rank-kill          '[SECONDS [PATTERN [DELAY]]]' 'SIGKILL to the rank; waits as rank-stop does'
fault rank-freeze        'MILLISECONDS EVERY' 'the ranks of the node stand still for so long, every so many seconds'
fault daemon-kill        '[SECONDS [PATTERN [DELAY]]]' "SIGKILL to Open MPI's daemon that started the rank; waits as rank-stop does"

break_duplicate_hostname() { set_hostname "$1" "${NAMES[$2]}"; }
mend_duplicate_hostname() { set_hostname "$1" "${NAMES[$1]}"; }
set_hostname() { in_node "$1" sh -c 'hostname "$1" && echo "$1" >/etc/hostname' - "$2"; }

break_disk_full() { in_node "$1" sh -c 'cat /dev/zero >/var/tmp/.lab-fill 2>/dev/null; test -s /var/tmp/.lab-fill'; }
mend_disk_full() { in_node "$1" rm -f /var/tmp/.lab-fill; }

# Fails while something on the node has a file of the disk open for writing.
remount() { in_node "$1" sh -c 'for path in / /root /opt/fabricgate /var/tmp; do mount -o "remount,bind,$1" $path || exit; done' - "$2"; }
break_read_only_root() { remount "$1" ro || { remount "$1" rw; return 1; }; }
mend_read_only_root() { remount "$1" rw; }

break_launcher_missing() {
  if (( $# > 1 )); then await_ranks "$@" >/dev/null || return; fi
  in_node "$1" sh -c 'for file in orted prted; do
    path=$(command -v $file) && mount --bind /bin/false "$(readlink -f "$path")"; done; true'
}
mend_launcher_missing() {
  in_node "$1" sh -c 'for file in orted prted; do path=$(command -v $file) && umount "$(readlink -f "$path")"; done; true'
}

launcher_path() { in_node "$1" sh -c 'readlink -f "$(command -v orted || command -v prted)"'; }
break_launcher_broken() {
  printf '#!/bin/sh\ncase "$*" in *--help* | *--version*) echo Open RTE; exit 0 ;; esac\nsleep %d\nexit 0\n' "$2" |
    in_node "$1" sh -c 'cat >/run/lab-launcher && chmod 755 /run/lab-launcher && mount --bind /run/lab-launcher "$1"' - "$(launcher_path "$1")"
}
mend_launcher_broken() { in_node "$1" umount "$(launcher_path "$1")"; }

break_tmp_read_only() { in_node "$1" mount -t tmpfs -o ro tmpfs /tmp; }
mend_tmp_read_only() { in_node "$1" umount /tmp; }

break_head_filtered() {
  echo "table ip head { chain c { type filter hook output priority 0; ip daddr $HEAD tcp dport $LAUNCHER_PORTS drop; }; }" | in_net "$1" nft -f -
}
mend_head_filtered() { in_net "$1" nft delete table ip head; }
break_head_unroutable() { in_net "$1" ip rule add to "$HEAD" ipproto tcp dport "$LAUNCHER_PORTS" unreachable; }
mend_head_unroutable() { in_net "$1" ip rule del to "$HEAD" ipproto tcp dport "$LAUNCHER_PORTS" unreachable; }

links() {  # NODE up|down: the far ends of its cables
  local r
  in_switch ip link set "n$1m" "$2"
  for r in "${!RAILS[@]}"; do in_switch ip link set "n$1r$r" "$2"; done
}
break_node_vanish() {
  if (( $# > 1 )); then await_ranks "$@" >/dev/null || return; fi
  links "$1" down  # first, so that no FIN or RST gets out
  end_recorded "$CLAIM/pids/boot-$1"
}
mend_node_vanish() {
  end_recorded "$CLAIM/pids/boot-$1"
  links "$1" up
  boot_node "$1"
  wait_until 20 ssh_answers "$1"
}

# NODE [SECONDS [PATTERN]]: prints "pid starttime" of each such process, as the node numbers them. A command line alone would
# also match the shells and launchers that hand it on; the name is what the kernel keeps, 15 characters.
await_ranks() {
  in_node "$1" bash -c '
    while (( SECONDS <= $1 )); do
      found=
      for folder in /proc/[0-9]*; do
        pid=${folder#/proc/}
        (( pid != 1 && pid != $$ )) || continue
        { read -r name <$folder/comm && mapfile -d "" words <$folder/cmdline && stat=$(<$folder/stat); } 2>/dev/null || continue
        fields=(${stat##*) })
        [[ $name = fabricgate || $name = fabricgate-rank || -n $2 && $name = fabricgate-agen ]] || continue
        [[ "${words[*]}" =~ $2 ]] || continue
        [[ ${fields[0]} = Z ]] || { echo "$pid ${fields[19]}"; found=yes; }
      done
      [[ -z $found ]] || { sleep "$3"; exit 0; }
      sleep 0.02
    done
    exit 1' - "${2:-30}" "${3-}" "${4-0}" || { echo "ci/lab/break: no such process on ${NAMES[$1]} in ${2:-30} s" >&2; return 1; }
}
signal_ranks() {  # NODE SIGNAL <pairs
  in_node "$1" bash -c 'while read -r pid start; do
      stat=$(<"/proc/$pid/stat") || continue
      fields=(${stat##*) })
      [[ ${fields[19]} != "$start" ]] || kill -"$1" "$pid"
    done 2>/dev/null; true' - "$2"
}
break_rank_stop() { await_ranks "$@" >"$BEFORE" && signal_ranks "$1" STOP <"$BEFORE"; }
mend_rank_stop() { signal_ranks "$1" CONT <"$BEFORE"; }
# NODE: prints the numbers that this machine gives to the ranks on the node.
ranks_here() {
  local folder boot
  boot=$(recorded_pid "$CLAIM/pids/boot-$1") || return
  for folder in /proc/[0-9]*; do
    [[ $folder/ns/pid -ef /proc/$boot/ns/pid_for_children && $(<"$folder/comm") = fabricgate-rank ]] && echo "${folder#/proc/}"
  done 2>/dev/null
  return 0
}
break_rank_freeze() {
  [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "MILLISECONDS is 1 to 9999, not '$2'"
  [[ $3 =~ ^[1-9][0-9]?$ ]] || usage_error "EVERY is 1 to 99 seconds, not '$3'"
  export -f ranks_here recorded_pid start_time
  start_recorded "$CLAIM/pids/freeze-$1" "$LAB/nodes/${NAMES[$1]}/log" env CLAIM="$CLAIM" bash -c '
    exec 3<> <(:)  # never readable: a pause without a process that outlives this one
    while :; do
      read -rt "$2" -u 3
      ranks=$(ranks_here "$1")
      [[ -n $ranks ]] || continue
      kill -STOP $ranks
      read -rt "$3" -u 3
      kill -CONT $ranks
    done' - "$1" "$3" "$(( $2 / 1000 )).$(printf %03d $(( $2 % 1000 )))"
}
mend_rank_freeze() {
  end_recorded "$CLAIM/pids/freeze-$1"
  ranks_here "$1" | xargs -r kill -CONT
}
break_rank_kill() { await_ranks "$@" >"$BEFORE" && signal_ranks "$1" KILL <"$BEFORE"; }
mend_rank_kill() { :; }
break_daemon_kill() { await_ranks "$@" | started_by "$1" >"$BEFORE" && [[ -s $BEFORE ]] && signal_ranks "$1" KILL <"$BEFORE"; }
mend_daemon_kill() { :; }
started_by() {  # NODE <pairs: the same of their parents
  in_node "$1" bash -c 'while read -r pid start; do
      stat=$(<"/proc/$pid/stat") || continue
      fields=(${stat##*) })
      [[ ${fields[19]} = "$start" ]] || continue
      parent=${fields[1]} stat=$(<"/proc/$parent/stat") && (( parent > 1 )) || continue
      fields=(${stat##*) })
      echo "$parent ${fields[19]}"
    done 2>/dev/null; true'
}
