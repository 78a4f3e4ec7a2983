# Faults of SSH, nodes and ranks.
break_ "$A" host-key-changed
check 'host-key-changed' says 'IDENTIFICATION HAS CHANGED' "$A" true
mend_ "$A" host-key-changed
check 'host key is back' on "$A" true
break_ "$A" host-key-unknown
check 'host-key-unknown' says 'Host key verification failed' "$A" true
check 'host-key-unknown: others are known' on "$B" true
mend_ "$A" host-key-unknown
check 'host key is known' on "$A" true
break_ "$A" sshd-stopped
check 'sshd-stopped' says 'Connection refused' "$A" true
mend_ "$A" sshd-stopped
break_ "$A" sshd-silent
check 'sshd-silent' says 'timed out during banner exchange' "$A" true
mend_ "$A"
break_ "$A" sshd-after-banner
check 'sshd-after-banner sends one' ssh_answers 0
check 'sshd-after-banner' not on "$A" true
mend_ "$A" sshd-after-banner
check 'sshd is back' on "$A" true
break_ "$A" ssh-noise
check 'ssh-noise' says Welcome "$A" true
mend_ "$A" ssh-noise
check 'no noise' is "$(on "$A" echo quiet)" quiet
break_ "$A" memlock-low
check 'memlock-low: launched' is "$(on "$A" ulimit -l)" 64
check 'memlock-low: login shell' is "$(on "$A" "bash -lc 'ulimit -l'")" "$MEMLOCK"
mend_ "$A" memlock-low
check 'memlock is back' is "$(on "$A" ulimit -l)" "$MEMLOCK"

break_ "$A" duplicate-hostname "$B"
check 'duplicate-hostname' is "$(on "$A" hostname)" "$B"
mend_ "$A" duplicate-hostname
check 'own host name' is "$(on "$A" hostname)" "$A"
break_ "$A" disk-full
check 'disk-full' says 'No space left' "$A" 'echo x >/opt/fabricgate/file'
mend_ "$A" disk-full
break_ "$A" read-only-root
check 'read-only-root' says 'Read-only file system' "$A" 'echo x >/etc/file'
check 'read-only-root: install folder' says 'Read-only file system' "$A" 'echo x >/opt/fabricgate/file'
mend_ "$A" read-only-root
check 'the disk can be written' on "$A" 'echo kept >/etc/lab-kept && echo kept >/opt/fabricgate/lab-kept'
break_ "$A" launcher-missing
check 'launcher-missing' on "$A" 'cmp -s /bin/false $(command -v orted)'
mend_ "$A" launcher-missing
check 'launcher is back' not on "$A" 'cmp -s /bin/false $(command -v orted)'

break_ "$A" launcher-broken 0
check 'launcher-broken: help' says 'Open RTE' "$A" 'orted --help'
check 'launcher-broken: a job' is "$(on "$A" 'orted -mca ess env; echo $?')" 0
mend_ "$A" launcher-broken
check 'launcher works again' not on "$A" 'cmp -s /run/lab-launcher "$(command -v orted)"'
break_ "$A" tmp-read-only
check 'tmp-read-only' says 'Read-only file system' "$A" 'echo x >/tmp/file'
mend_ "$A" tmp-read-only
check '/tmp can be written' on "$A" 'echo x >/tmp/file'
# on the first port of the range that no other lab's launcher has
exec {ports}< <(exec 9>&-; exec python3 - "$HEAD" "${LAUNCHER_PORTS/-/ }" <<'PYTHON'
import socket, sys, time
first, last = map(int, sys.argv[2].split())
for port in range(first, last + 1):
    try:
        listener = socket.create_server((sys.argv[1], port))
    except OSError:
        continue
    print(port, flush=True)
    time.sleep(60)
PYTHON
)
listener=$!
read -r launcher_port <&"$ports"
calls_head() { on "$A" "timeout 2 bash -c '</dev/tcp/$HEAD/$launcher_port'"; }
check 'the head is reached' wait_until 5 calls_head
for fault in head-filtered head-unroutable; do
  break_ "$A" "$fault"
  check "$fault" not calls_head
  check "$fault leaves SSH alone" on "$A" true
  mend_ "$A" "$fault"
  check "$fault is mended" calls_head
done
kill "$listener"
exec {ports}<&-

rank_state() { on "$A" "ps -o stat= -C fabricgate-rank | cut -c1"; }
check 'no rank to stop' not "$HERE/break" "$A" rank-stop 0
on "$A" 'cp /bin/sleep /opt/fabricgate/fabricgate-rank; setsid /opt/fabricgate/fabricgate-rank 300 >/dev/null 2>&1 &'
break_ "$A" rank-stop 5
check 'rank-stop' is "$(rank_state)" T
mend_ "$A" rank-stop
check 'rank goes on' is "$(rank_state)" S
check 'a pattern picks by command line' not "$HERE/break" "$A" rank-kill 0 'fabricgate-rank 301'
"$HERE/break" "$A" rank-kill 10 'fabricgate-rank 302' &
waiting=$!
check 'rank-kill waits' kill -0 "$waiting"
# The shell's command line matches too, and it is there first.
on "$A" 'setsid sh -c "sleep 0.3; /opt/fabricgate/fabricgate-rank 302; echo \$? >/var/tmp/lab-killed" >/dev/null 2>&1 &'
wait "$waiting"
check 'rank-kill saw it' is $? 0
shell_saw() { is "$(on "$A" 'cat /var/tmp/lab-killed')" "$1"; }
check 'rank-kill spares the shell that started the rank' wait_until 5 shell_saw 137
ranks_are() { is "$(on "$A" 'ps -o args= -C fabricgate-rank')" "$1"; }  # a killed process is there until it ran once more
check 'rank-kill killed that one alone' wait_until 5 ranks_are '/opt/fabricgate/fabricgate-rank 300'
on "$A" 'setsid sh -c "/opt/fabricgate/fabricgate-rank 303; true" >/dev/null 2>&1 &'
break_ "$A" daemon-kill 5 'fabricgate-rank 303'
check 'daemon-kill leaves the rank without its parent' wait_until 5 on "$A" 'pgrep -P 1 -f "fabricgate-rank 303"'
mend_ "$A"

break_ "$A" node-vanish 5 fabricgate-rank
check 'node-vanish' not on "$A" true
check 'node-vanish: others stay' on "$B" true
mend_ "$A"
check 'it boots, its disk is as it was' is "$(on "$A" 'cat /etc/lab-kept /opt/fabricgate/lab-kept' | xargs)" 'kept kept'
check 'no rank runs' is "$(rank_state)" ''
check 'rails after boot' arrive 0 1 0 "$MTU" 20 20 20
check 'unknown node' is "$("$HERE/break" nobody loss 0 1 2>/dev/null; echo $?)" 64
check 'unknown fault' is "$("$HERE/break" "$A" gremlins 2>/dev/null; echo $?)" 64
