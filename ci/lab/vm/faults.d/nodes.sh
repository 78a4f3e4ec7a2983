# Faults of a node as a whole.

fault module-missing 'MODULE' 'the kernel module is neither loaded nor on the disk'
fault apt-locked     ''       'another process holds the locks of apt and dpkg'
fault disk-full      ''       'nothing can be written to the disk'
fault clock-off      'SECONDS' "the node's clock is ahead by so much"
fault node-reboot    ''       'the node boots again; mend waits for it'
fault node-vanish    ''       'power lost: silence, no reset; mend boots the node, with the disk as it was'

# The file is renamed where it lies, so depmod's table still names it: modprobe fails as with a kernel whose package is half installed.
break_module_missing() {
  in_node "$1" bash -c 'file=$(modinfo -n "$1") && { ! grep -q "^$1 " /proc/modules || modprobe -r "$1"; } && mv "$file" "$file.lab" && echo "$file"' \
    - "$2" >"$BEFORE"
}
mend_module_missing() { in_node "$1" mv "$(<"$BEFORE").lab" "$(<"$BEFORE")"; }

break_apt_locked() {
  in_node "$1" bash -c 'python3 -c "import fcntl, time
files = [open(path, \"w\") for path in (\"/var/lib/dpkg/lock-frontend\", \"/var/lib/dpkg/lock\", \"/var/lib/apt/lists/lock\")]
for file in files: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print(\"locked\", flush=True)
time.sleep(86400)" >/run/lab-apt-lock 2>&1 </dev/null & echo $!
    for tries in {1..100}; do ! grep -q locked /run/lab-apt-lock || exit 0; sleep 0.1; done; exit 1' >"$BEFORE"
}
mend_apt_locked() { in_node "$1" bash -c 'kill "$1"; while [[ -e /proc/$1 ]]; do sleep 0.1; done' - "$(<"$BEFORE")"; }

break_disk_full() {
  in_node "$1" bash -c 'free() { df --output=avail -B1 / | tail -1; }
    fallocate -l "$(free)" /var/.lab-fill; cat /dev/zero >/var/.lab-rest 2>/dev/null; sync; (( $(free) < 65536 ))'
}
mend_disk_full() { in_node "$1" rm -f /var/.lab-fill /var/.lab-rest; }

break_clock_off() { set_clock "$1" $(( $(date +%s) + $2 )); }
mend_clock_off() { set_clock "$1" "$(date +%s)"; }
set_clock() { in_node "$1" date -s "@$2"; }

boot_id() { in_node "$1" cat /proc/sys/kernel/random/boot_id 2>/dev/null; }
booted_since() { local now; now=$(boot_id "$1") && [[ $now != "$2" ]]; }  # NODE BOOT-ID
break_node_reboot() {
  boot_id "$1" >"$BEFORE" || return
  in_node "$1" bash -c 'if [[ -d /run/systemd/system ]]; then systemctl reboot; else sync; (sleep 0.5; reboot -f) >/dev/null 2>&1 </dev/null & fi'
  hang_up "$1"
}
mend_node_reboot() { wait_until 300 booted_since "$1" "$(<"$BEFORE")"; }

break_node_vanish() {
  in_switch ip link set "n${1}m" down  # first, so that no FIN or RST gets out
  end_recorded "$CLAIM/pids/qemu-$1"
  hang_up "$1"
}
mend_node_vanish() {
  in_switch ip link set "n${1}m" up
  boot_node "$1"
  wait_until 300 ssh_answers "$1"
}
