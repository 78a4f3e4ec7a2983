# Faults of rails, seen on the node; each is mended.
port_state() { on "$A" "cut -d: -f1 /sys/class/infiniband/rxe0/ports/1/state"; }
port_is() { is "$(port_state)" "$1"; }
flags() { on "$A" ip -br link show "${RAILS[0]}"; }
shows() { [[ $(flags) = *"$1"* ]] || { flags; return 1; }; }
reaches() { on "$A" "ping -q -c 2 -i 0.2 -W 3 ${RAIL_ADDRESS[1]}"; }

break_ "$A" rail-down 0
check 'rail-down: no carrier' soon shows NO-CARRIER
check 'rail-down: the RDMA port is down' soon port_is 1
mend_ "$A" rail-down
check 'rail-down mended: the RDMA port is active' soon port_is 4
break_ "$A" rail-admin-down 0
check 'rail-admin-down' shows ' DOWN '
mend_ "$A" rail-admin-down
check 'rail-admin-down mended' soon reaches
break_ "$A" mtu-1500 0
check 'mtu-1500' is "$(on "$A" cat "/sys/class/net/${RAILS[0]}/mtu")" 1500
mend_ "$A" mtu-1500
check 'mtu-1500 mended' is "$(on "$A" cat "/sys/class/net/${RAILS[0]}/mtu")" "$MTU"
break_ "$A" rail-silent 0
check 'rail-silent: nothing arrives' not reaches
check 'rail-silent: the carrier stays' not shows NO-CARRIER
mend_ "$A" rail-silent
check 'rail-silent mended' soon reaches
lost() { on "$A" "ping -q -c 100 -i 0.01 -W 2 ${RAIL_ADDRESS[1]}" | sed -nE 's/.* ([0-9]+)[0-9.]*% packet loss.*/\1/p'; }
break_ "$A" loss-tx 0 30
share=$(lost)
check "loss-tx: $share %" test "$share" -ge 10 -a "$share" -le 50
mend_ "$A" loss-tx
check 'loss-tx mended' is "$(lost)" 0
port_rate() { in_switch tc class show dev n0r0 classid 1:1 | grep -o 'rate [0-9A-Za-z]*'; }
break_ "$A" rail-half 0
check 'rail-half' is "$(port_rate)" "rate $(( RATES[0] / 2 ))Mbit"
mend_ "$A" rail-half
check 'rail-half mended' is "$(port_rate)" "rate ${RATES[0]}Mbit"

on "$A" "rdma link delete rxe1; echo 0 >$functions"
break_ "$A" vfs-held 0
check 'vfs-held: two functions' is "$(on "$A" cat "$functions")" 2
check 'vfs-held: one is used' on "$A" "ip -n pod -br link | grep -v ^lo"
mend_ "$A" vfs-held
check 'vfs-held mended' is "$(on "$A" cat "$functions")" 0
corrected() { on "$A" "sed -n 's/^BadTLP //p' /sys/class/net/${RAILS[1]}/device/aer_dev_correctable"; }
corrected_is() { is "$(corrected)" "$1"; }
break_ "$A" aer 1
check 'aer: a corrected error is counted' soon corrected_is 1
break_ "$A" nic-gone 0
check 'nic-gone: no interface' not on "$A" "test -e /sys/class/net/${RAILS[0]}"
check 'nic-gone: no RDMA device' is "$(on "$A" rdma link)" ''
mend_ "$A" nic-gone
check 'nic-gone mended' soon reaches
