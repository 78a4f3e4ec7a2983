# Every fault of rails: its effect, that other rails do not feel it, and that mend takes it away.
check 'the last rail is used as an unharmed one' test ${#RAILS[@]} -ge 2

break_ "$A" rail-half 0
check 'rail-half sends half' share 0 1 0 45 51
check 'rail-half receives half' share 1 0 0 45 51
check 'rail-half leaves rail 1' share 0 1 1 95 101
mend_ "$A" rail-half
break_ "$A" rail-dip 0
check 'rail-dip is over when the command is' share 0 1 0 95 101
break_ "$A" rail-half-tx 0
check 'rail-half-tx sends half' share 0 1 0 45 51
check 'rail-half-tx receives all' share 1 0 0 95 101
mend_ "$A"
break_ "$A" rail-half-rx 1
check 'rail-half-rx sends all' share 0 1 1 95 101
check 'rail-half-rx receives half' share 1 0 1 45 51
mend_ "$A" rail-half-rx
check 'mended' share 1 0 1 95 101

link_shows() { in_net 0 ip link show "${RAILS[$1]}" | grep -q "$2"; }
break_ "$A" rail-down 0
check 'rail-down: no carrier' link_shows 0 NO-CARRIER
mend_ "$A" rail-down
changes() { "$HERE/run" "$A" cat "/sys/class/net/${RAILS[0]}/carrier_changes"; }
before=$(changes)
break_ "$A" rail-flap 0 2
check 'rail-flap' is "$(( $(changes) - before ))" 4
break_ "$A" rail-admin-down 0
check 'rail-admin-down: not up' not link_shows 0 '[<,]UP[,>]'
mend_ "$A" rail-admin-down
check 'rail 0 is back' arrive 0 1 0 100 20 20 20
break_ "$A" mtu-1500 0
check 'mtu-1500' link_shows 0 'mtu 1500 '
mend_ "$A" mtu-1500
check 'MTU is back' link_shows 0 "mtu $MTU "
break_ "$A" mtu-path 0
check 'mtu-path: shows its MTU' link_shows 0 "mtu $MTU "
check 'mtu-path: passes 1500' arrive 0 1 0 1500 20 20 20
check 'mtu-path: drops 1501' arrive 0 1 0 1501 20 0 0
check 'mtu-path: other direction too' arrive 1 0 0 "$MTU" 20 0 0
mend_ "$A" mtu-path
check 'mtu-path mended' arrive 0 1 0 "$MTU" 20 20 20

break_ "$A" loss 0 20
check 'loss sending' arrive 0 1 0 100 500 300 460
check 'loss receiving' arrive 1 0 0 100 500 300 460
check 'loss leaves others' arrive 1 2 0 100 100 100 100
mend_ "$A" loss
break_ "$A" loss-tx 0 20
check 'loss-tx sending' arrive 0 1 0 100 500 300 460
check 'loss-tx not receiving' arrive 1 0 0 100 100 100 100
mend_ "$A"
break_ "$A" loss-rx 0 20
check 'loss-rx not sending' arrive 0 1 0 100 100 100 100
check 'loss-rx receiving' arrive 1 0 0 100 500 300 460
mend_ "$A"

break_ "$A" rail-silent 0
check 'rail-silent: nothing arrives' arrive 0 1 0 100 20 0 0
check 'rail-silent: the carrier stays' not link_shows 0 NO-CARRIER
mend_ "$A" rail-silent
break_ "$A" tcp-loss 0 2
check 'tcp-loss spares UDP' arrive 0 1 0 100 200 200 200
mend_ "$A" tcp-loss
connects() { within "$(wire dial "$1" "$2" 0 64)" "$3" "$4"; }  # FROM TO LOW HIGH: of 64 on rail 0
segment_is() { is "$(wire segment "$1" "$2" 0)" "$3"; }
full=$(( MTU - 52 ))
check 'all connections are made' connects 0 1 64 64
check 'segments fill the MTU' segment_is 0 1 "$full"
break_ "$A" syn-drop 0
check 'syn-drop: nobody connects to the node' connects 1 0 0 0
check 'syn-drop: it connects itself' connects 0 1 64 64
check 'syn-drop leaves others' connects 1 2 64 64
mend_ "$A" syn-drop
break_ "$A" flow-drop 0
check 'flow-drop: most connect to the node' retry connects 1 0 45 63
check 'flow-drop: so does the node' retry connects 0 1 45 63
check 'flow-drop leaves others' connects 1 2 64 64
mend_ "$A" flow-drop
break_ "$A" mss-clamp 0
check 'mss-clamp: what the node gets' segment_is 1 0 588
check 'mss-clamp: what it sends' segment_is 0 1 "$full"
check 'mss-clamp: frames of the MTU pass' arrive 1 0 0 "$MTU" 20 20 20
mend_ "$A" mss-clamp
break_ "$A" route-mtu 0
check 'route-mtu: what the node sends' segment_is 0 1 1448
check 'route-mtu: what it gets' segment_is 1 0 1448
check 'route-mtu: shows its MTU' link_shows 0 "mtu $MTU "
mend_ "$A" route-mtu
check 'mended: all connections' connects 1 0 64 64
check 'mended: segments' segment_is 0 1 "$full"
break_ "$A" blackout 0 500 1  # a packet each 20 ms for four periods: the dark spells take a third, whenever they begin
check 'blackout: what is sent in the dark does not arrive' arrive 0 1 0 100 300 20 280 6
mend_ "$A" blackout
check 'blackout is over' arrive 0 1 0 100 300 300 300 6
break_ "$A" half-duplex 0
check 'half-duplex: all of one direction' share 0 1 0 95 101
mend_ "$A" half-duplex

# A neighbour that was learnt would hide nothing here: other cables, other bridges.
break_ "$A" crossed
check 'crossed: rail 0 reaches no one' arrive 0 1 0 100 5 0 0
check 'crossed: rail 1 neither' arrive 0 1 1 100 5 0 0
mend_ "$A" crossed
check 'crossed mended' arrive 0 1 0 100 5 5 5
break_ "$A" crossed-between "$B"
check 'crossed-between: rail 0 of the one' arrive 0 2 0 100 5 0 0
check 'crossed-between: rail 1 of the other' arrive 1 2 1 100 5 0 0
check 'crossed-between: rail 1 of the one stays' arrive 0 2 1 100 5 5 5
mend_ "$A" crossed-between
check 'crossed-between mended' arrive 1 2 1 100 5 5 5

has_address() { in_net "$1" ip -4 addr show "${RAILS[$2]}" | grep -qF " ${RAIL_ADDRESS[$2 * COUNT + $3]}/"; }
break_ "$A" duplicate-address 0 "$B"
check 'duplicate-address' has_address 0 0 1
check 'duplicate-address: own one is gone' not has_address 0 0 0
mend_ "$A" duplicate-address
check 'address is back' has_address 0 0 0
check 'only that' not has_address 0 0 1
check 'uplink-slow needs two switches' not "$HERE/break" "$A" uplink-slow 0

frames_sent() { "$HERE/run" "${NAMES[$1]}" cat "/sys/class/net/${RAILS[$2]}/statistics/tx_packets"; }
passes_third() {  # LOW HIGH: of 20 probes from 0 to 1 on rail 0, how many leave rail 0 of node 2 again
  local before; before=$(frames_sent 2 0)
  within "$(wire probe 0 1 0 100 20)" 20 20 && within "$(( $(frames_sent 2 0) - before ))" "$1" "$2"
}
third=${NAMES[2]}
break_ "$A" relay 0 "$B" "$third"
check 'relay: frames arrive, through the third' passes_third 20 30
mend_ "$A" relay
check 'relay mended' passes_third 0 5
break_ "$A" wrong-neighbour 0 "$B" "$third"
check 'wrong-neighbour: nothing arrives' within "$(wire probe 0 1 0 100 5)" 0 0
mend_ "$A" wrong-neighbour
leaves_by() { in_net 0 ip route get "${RAIL_ADDRESS[1]}" from "${RAIL_ADDRESS[0]}" | grep -q " dev $1 "; }
break_ "$A" detour 0
check 'detour: by the management network' leaves_by "$MANAGEMENT_DEVICE"
check 'detour: at the rate of the rail' share 0 1 0 85 101
mend_ "$A" detour
check 'detour mended' leaves_by "${RAILS[0]}"
break_ "$A" detour-marked 0
check 'detour-marked: no route shows it' leaves_by "${RAILS[0]}"
check 'detour-marked: at the rate of the rail' share 0 1 0 85 101
mend_ "$A" detour-marked
