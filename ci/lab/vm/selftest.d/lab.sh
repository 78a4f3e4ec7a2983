# A lab that is whole: SSH, names, rails, virtual functions through sysfs.
"$HERE/up" 2 --seed "$seed" --staged || { echo 'FAILED: up'; echo '0 passed, 1 failed'; exit 1; }
load_lab
A=${NAMES[0]} B=${NAMES[1]}

for i in "${!NAMES[@]}"; do
  check "strict ssh to ${NAMES[i]}" is "$(on "${NAMES[i]}" hostname)" "${NAMES[i]}"
  check "run on ${NAMES[i]}" is "$("$HERE/run" "${NAMES[i]}" -- printf '%s|' 'a b' '$c' '')" 'a b|$c||'
done
check 'nodes know each other by name' on "$A" "getent hosts $B"
check 'a node holds no private key but its host key' on "$A" "! grep -rlsq 'PRIVATE KEY' /root /home /etc/ssh --exclude=ssh_host_ed25519_key"
check 'every node has its own boot id and machine id' is \
  "$(for name in $A $B; do on "$name" cat /proc/sys/kernel/random/boot_id /etc/machine-id; done | sort -u | wc -l)" 4
offset() { local now; now=$(on "$1" date +%s) && echo $(( now - $(date +%s) )); }
for name in $A $B; do check "$name: the clock is right" test "$(offset "$name")" -ge -2 -a "$(offset "$name")" -le 1; done
check 'locked memory is unlimited on a staged node' is "$(on "$A" ulimit -l)" unlimited
for r in "${!RAILS[@]}"; do
  card=/sys/class/net/${RAILS[r]}/device
  check "rail $r is an SR-IOV adapter in the slot of the inventory" is \
    "$(on "$A" "basename \$(readlink $card) && basename \$(readlink $card/driver) && cat $card/sriov_totalvfs" | xargs)" "0000:0$(( r + 1 )):00.0 igb 7"
  check "rail $r carries frames of its MTU" on "$A" "ping -q -c 3 -i 0.2 -W 5 -M do -s $(( MTU - 28 )) ${RAIL_ADDRESS[r * COUNT + 1]}"
done

functions=/sys/class/net/${RAILS[0]}/device/sriov_numvfs
check 'virtual functions' on "$A" "echo 2 >$functions && udevadm settle && lspci | grep -c 'Virtual Function' | grep -x 2"
check 'they have interfaces' soon on "$A" "ls ${functions%/*}/virtfn1/net | grep ."
errno_of() { on "$A" "python3 -c 'import os, sys
try: os.write(os.open(sys.argv[1], os.O_WRONLY), sys.argv[2].encode())
except OSError as error: print(error.errno)' $functions $1"; }
check 'another count while there are some: EBUSY' is "$(errno_of 3)" 16
check 'none again' on "$A" "echo 0 >$functions"
check 'more than the adapter has: ERANGE' is "$(errno_of 8)" 34
