# What the lab's scripts share. A lab has two places:
#   $LAB             state folder: inventory, keys, node disks; may be lost or half-written at any time
#   $CLAIMS/<id>     what of this machine belongs to the lab: recorded processes; names of links and network namespaces
#                    all begin with fg<id>. Clean-up trusts this one alone, so it works without the state folder.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(cd "$HERE/../.." && pwd)
CLAIMS=/run/fabricgate-lab
LAB=$(realpath -m -- "${FABRICGATE_LAB:-$REPO/.lab}")

# --help of every script: its head comment. Before anything else, because some of them take no argument to act.
case ${1-} in
  -h|--help) [[ ${0##*/} = up ]] || { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit 0; } ;;
esac

die() { echo "ci/lab: $1" >&2; exit "${2:-1}"; }
usage_error() { die "$1" 64; }

need_root() {
  [[ $EUID = 0 ]] || die "the lab makes namespaces and interfaces: run it as root (sudo --preserve-env=FABRICGATE_LAB $0 …)"
}

# One lab is made or removed at a time on a machine. Daemons started under the lock close fd 9.
take_lock() { exec 9</run; flock -w 120 9 || die "another lab is being made or removed for two minutes already (lock on /run)"; }

# --- processes: a record is "pid starttime"; the start time guards against a pid used again

start_time() {  # PID; fails for one that has ended but is not yet reaped
  local stat fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  fields=(${stat##*) })
  [[ ${fields[0]} != [ZX] ]] && echo "${fields[19]}"
}

recorded_pid() {  # FILE: prints the pid if that very process still runs
  local pid start
  read -r pid start 2>/dev/null <"$1" && [[ $(start_time "$pid") = "$start" ]] && echo "$pid"
}

# RECORD LOG COMMAND…: in the background, own session. The process records itself before it becomes COMMAND, so there is
# no moment at which a killed `up` leaves a process that nobody knows.
start_recorded() {
  local record=$1 log=$2; shift 2
  setsid bash -c 'stat=$(</proc/$$/stat); fields=(${stat##*) }); echo "$$ ${fields[19]}" >"$0" || exit 1; exec "$@"' \
    "$record" "$@" </dev/null >>"$log" 2>&1 9>&- &
}

wait_until() {  # SECONDS COMMAND…: polls; false at the deadline
  local end=$(( ${EPOCHREALTIME/./} + $1 * 1000000 )); shift
  until "$@"; do (( ${EPOCHREALTIME/./} < end )) || return 1; sleep 0.03; done
}

process_gone() { ! recorded_pid "$1" >/dev/null; }

# RECORD: ends the recorded process and, where it is an `unshare --fork`, the namespace's init and so all in it. unshare
# returns after the kernel has emptied the PID namespace; nothing is left then.
end_recorded() {
  local pid child
  pid=$(recorded_pid "$1") || { rm -f "$1"; return 0; }
  if [[ $(cat "/proc/$pid/comm" 2>/dev/null) = unshare ]] && child=$(ps -o pid= --ppid "$pid"); then
    kill -KILL $child 2>/dev/null
    wait_until 10 process_gone "$1" || kill -KILL "$pid" 2>/dev/null
  else
    kill -KILL "$pid" 2>/dev/null
  fi
  wait_until 10 process_gone "$1" || die "process $pid does not end ($1)"
  rm -f "$1"
}

# --- removing a lab

remove_claim() {  # CLAIM folder
  local claim=$1 id record name
  id=${claim##*/}
  if [[ $(cat "$claim/boot" 2>/dev/null) = "$(cat /proc/sys/kernel/random/boot_id)" ]]; then
    for name in "$claim"/ssh/*; do [[ ! -S $name ]] || ssh -S "$name" -O exit - 2>/dev/null; done  # of the VM lab
    for record in "$claim"/pids/*; do [[ -e $record ]] && end_recorded "$record"; done
    ip link del "fg$id" 2>/dev/null
    for name in /run/netns/fg"$id"-*; do [[ -e $name ]] && ip netns del "${name##*/}"; done
  fi
  rm -rf "$claim"
  rmdir "$CLAIMS" 2>/dev/null
  return 0
}

# Leftovers of this state folder, and of labs whose state folder is gone (then nobody can call `down` for them).
remove_leftovers() {
  local claim folder
  for claim in "$CLAIMS"/*/; do
    [[ -d $claim ]] || continue
    folder=$(cat "$claim/lab" 2>/dev/null)
    [[ -z $folder || $folder = "$LAB" || ! -d $folder ]] && remove_claim "${claim%/}"
  done
  if [[ -e $LAB/.fabricgate-lab ]]; then
    rm -rf --one-file-system "$LAB" || die "cannot remove $LAB"
  elif [[ -d $LAB && -n $(ls -A "$LAB") ]]; then
    die "$LAB is not empty and not a lab's state folder; choose another with FABRICGATE_LAB"
  fi
}

# --- a lab that is up

load_lab() {
  [[ -r $LAB/plan.sh ]] || die "no lab in $LAB: start one with ci/lab/up"
  source "$LAB/plan.sh"
  CLAIM=$CLAIMS/$ID
  [[ $(cat "$CLAIM/lab" 2>/dev/null) = "$LAB" ]] || die "the lab in $LAB is no longer up: start it again with ci/lab/up"
}

node_index() {  # NAME: prints its index
  local i
  for i in "${!NAMES[@]}"; do [[ ${NAMES[i]} = "$1" ]] && { echo "$i"; return; }; done
  usage_error "no node '$1' in this lab; it has: ${NAMES[*]}"
}

in_switch() { nsenter --net="/run/netns/fg$ID-switch" -- "$@"; }
in_net() { local i=$1; shift; nsenter --net="/run/netns/fg$ID-$i" -- "$@"; }  # this machine's tools, the node's network

in_node() {  # INDEX COMMAND…: in all of the node's namespaces, with a clean environment
  local i=$1 pid; shift
  pid=$(recorded_pid "$CLAIM/pids/boot-$i") || die "${NAMES[i]} is not running"
  nsenter --net="/run/netns/fg$ID-$i" --mount="/proc/$pid/ns/mnt" --uts="/proc/$pid/ns/uts" --ipc="/proc/$pid/ns/ipc" \
    --pid="/proc/$pid/ns/pid_for_children" -- \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    setpriv --bounding-set=-sys_module,-sys_time "$@"
}

write_known_hosts() {
  local i key
  for i in "${!NAMES[@]}"; do
    key=$(cut -d' ' -f1,2 "$LAB/nodes/${NAMES[i]}/files/etc/ssh/ssh_host_ed25519_key.pub")
    printf '%s %s\n' "${ADDRESSES[i]},[${ADDRESSES[i]}]:$PORT" "$key"
  done >"$LAB/known_hosts.new" && mv "$LAB/known_hosts.new" "$LAB/known_hosts"
}

# Disk: a process in the node's own mount namespace keeps its root file system while the node is off.
mount_disk() {  # INDEX BIND…
  local i=$1 folder=$LAB/nodes/${NAMES[$1]}; shift
  start_recorded "$CLAIM/pids/disk-$i" "$folder/log" \
    unshare --mount --propagation private bash "$HERE/node-disk.sh" "$folder" "$LAB:$REPO" "$@"
}

boot_node() {  # INDEX: volatile mounts, host name, limits, sshd
  local i=$1 pid
  pid=$(recorded_pid "$CLAIM/pids/disk-$i") || die "the disk of ${NAMES[i]} is gone"
  start_recorded "$CLAIM/pids/boot-$i" "$LAB/nodes/${NAMES[i]}/log" \
    nsenter --mount="/proc/$pid/ns/mnt" --net="/run/netns/fg$ID-$i" -- \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    unshare --uts --ipc --mount --propagation private --pid --fork --kill-child \
    setpriv --bounding-set=-sys_module,-sys_time bash /usr/local/sbin/lab-init "${NAMES[i]}" "$MEMLOCK"
}

ssh_answers() {  # INDEX: the node's sshd sends its banner
  local line
  read -r -t 1 line 2>/dev/null <"/dev/tcp/${ADDRESSES[$1]}/$PORT" && [[ $line = SSH-* ]]
} 2>/dev/null
