# Faults of nodes; and that nothing is left of a lab, however it ended.
module_loads() { on "$A" "modprobe -r rdma_rxe && modprobe rdma_rxe"; }
break_ "$A" module-missing rdma_rxe
check 'module-missing' not on "$A" modprobe rdma_rxe
mend_ "$A" module-missing
check 'module-missing mended' module_loads
break_ "$A" apt-locked
check 'apt-locked' is "$(on "$A" "apt-get -y install nothing-of-that-name 2>&1 | grep -c 'Could not get lock'")" 1
mend_ "$A" apt-locked
check 'apt-locked mended' is "$(on "$A" "apt-get -y install nothing-of-that-name 2>&1 | grep -c 'Could not get lock'")" 0
break_ "$A" disk-full
check 'disk-full' not on "$A" 'dd if=/dev/zero of=/var/tmp/more bs=1M count=1'
mend_ "$A" disk-full
check 'disk-full mended' on "$A" 'dd if=/dev/zero of=/var/tmp/more bs=1M count=1 && rm /var/tmp/more'

break_ "$A" clock-off 3600
check 'clock-off' test "$(offset "$A")" -ge 3590
mend_ "$A" clock-off
check 'clock-off mended' test "$(offset "$A")" -le 1

# Both at once: a boot is what takes long.
now=$(on "$A" cat /proc/sys/kernel/random/boot_id)
on "$A" touch /root/kept; on "$B" 'touch /root/kept && sync'
break_ "$A" node-reboot
break_ "$B" node-vanish
check 'node-vanish: silence' not timeout 5 ssh -F "$LAB/ssh_config" -o ControlPath=none -o ConnectTimeout=3 "$B" true
mend_ "$B" node-vanish
mend_ "$A" node-reboot
check 'node-reboot: another boot id' not is "$(on "$A" cat /proc/sys/kernel/random/boot_id)" "$now"
for node in "$A" "$B"; do check "$node: the disk as it was" on "$node" test -e /root/kept; done
check 'rails are back after both' soon on "$A" "ping -q -c 1 -W 3 ${RAIL_ADDRESS[1]}"

cp -r "$CLAIM/pids" "$work/pids"
all_gone() { local record; for record in "$work"/pids/*; do process_gone "$record" || return; done; }
check 'QEMU runs once a node' is "$(ls "$work/pids" | xargs)" 'qemu-0 qemu-1'
check 'it still runs' not all_gone
rm -rf "$LAB"  # as after a lost state folder: the claim is all that is left
check 'down of another state folder cleans up' env FABRICGATE_LAB="$work/other" "$HERE/down"
check 'no process is left' all_gone
check 'no namespace is left' not ls "/run/netns/fg$ID-switch"
check 'no link is left' not ip link show "fg$ID"
check 'no claim is left' not ls "$CLAIM"

# A second one, killed while its nodes boot.
interrupted=$work/interrupted
env FABRICGATE_LAB="$interrupted" "$HERE/up" 2 --seed "$seed" >/dev/null 2>&1 &
killed=$!
has_booting_node() { claim=$(grep -lsxF "$interrupted" "$CLAIMS"/*/lab) && [[ -s ${claim%/lab}/pids/qemu-1 ]]; }
check 'another lab begins' wait_until 60 has_booting_node
kill -KILL $killed; wait $killed 2>/dev/null
rm -rf "$work/pids"; cp -r "$(dirname "$(grep -lsxF "$interrupted" "$CLAIMS"/*/lab)")/pids" "$work/pids"
check 'its nodes run on' not all_gone
check 'down after up was killed' env FABRICGATE_LAB="$interrupted" "$HERE/down"
check 'no process is left of it' all_gone
check 'no claim is left of it' not grep -qsxF "$interrupted" "$CLAIMS"/*/lab
