# Faults of SSH: keys, daemon, login shell.

fault host-key-changed   '' 'the node has another host key than known_hosts says'
fault host-key-unknown   '' 'known_hosts has no key of the node'
fault sshd-stopped       '' 'nothing listens on the SSH port; sessions that are open stay'
fault sshd-silent        '' 'the port accepts and then says nothing'
fault sshd-after-banner  '' 'the port accepts, sends an SSH banner and then says nothing'
fault ssh-noise          '' 'the shell prints text in front of every command'
fault memlock-low        '' 'processes that sshd starts may lock 64 KiB; a login shell shows the full limit'

stop_sshd() {  # also ends the stand-in of a fault
  in_node "$1" sh -c 'for file in /run/sshd.pid /run/mute.pid; do
    pid=$(cat $file 2>/dev/null) && kill "$pid" 2>/dev/null && while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
    rm -f $file
  done'
}
start_sshd() {  # NODE [KIB]: with that soft limit of locked memory, default the full one
  in_node "$1" bash -c 'ulimit -l "$1" && ulimit -Sl "$2" && exec /usr/sbin/sshd -E /run/sshd.log' - \
    "$MEMLOCK" "${2:-$MEMLOCK}" </dev/null >/dev/null
}
restart_sshd() { stop_sshd "$1"; start_sshd "$@"; wait_until 10 ssh_answers "$1"; }
start_mute() { in_node "$1" python3 -c "$(<"$HERE/faults.d/mute_sshd.py")" "$PORT" "$2"; }

break_host_key_changed() {
  in_node "$1" sh -c 'cd /etc/ssh && rm -f ssh_host_ed25519_key* && ssh-keygen -q -t ed25519 -N "" -f ssh_host_ed25519_key'
  restart_sshd "$1"
}
mend_host_key_changed() {
  local file=/etc/ssh/ssh_host_ed25519_key
  in_node "$1" sh -c "cat >$file" <"$LAB/nodes/${NAMES[$1]}/files$file"
  in_node "$1" sh -c "cat >$file.pub" <"$LAB/nodes/${NAMES[$1]}/files$file.pub"
  restart_sshd "$1"
}

break_host_key_unknown() {
  grep -vF "${ADDRESSES[$1]}," "$LAB/known_hosts" >"$LAB/known_hosts.new"
  mv "$LAB/known_hosts.new" "$LAB/known_hosts"
}
mend_host_key_unknown() { write_known_hosts; }

break_sshd_stopped() { stop_sshd "$1"; }
mend_sshd_stopped() { restart_sshd "$1"; }
break_sshd_silent() { stop_sshd "$1"; start_mute "$1" ''; }
mend_sshd_silent() { restart_sshd "$1"; }
break_sshd_after_banner() { stop_sshd "$1"; start_mute "$1" 'SSH-2.0-OpenSSH_9.2p1'; }
mend_sshd_after_banner() { restart_sshd "$1"; }

break_ssh_noise() {
  in_node "$1" sh -c 'echo "echo Welcome to \$(hostname), authorised use only  # lab-noise" >>/root/.bashrc'
}
mend_ssh_noise() { in_node "$1" sed -i '/# lab-noise$/d' /root/.bashrc; }

break_memlock_low() {
  in_node "$1" sh -c 'echo "ulimit -Sl \$(ulimit -Hl)" >/etc/profile.d/lab-memlock.sh'
  restart_sshd "$1" 64
}
mend_memlock_low() { in_node "$1" rm -f /etc/profile.d/lab-memlock.sh; restart_sshd "$1"; }
