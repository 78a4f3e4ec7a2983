# Faults of ways: traffic of a rail that takes another way than its cable, at about its rate, so that no number shows it.

fault wrong-neighbour  'RAIL OTHER THIRD' "the node's neighbour table has THIRD's hardware address for OTHER: nothing gets there"
fault relay            'RAIL OTHER THIRD' 'the same, and THIRD forwards: what the node sends to OTHER goes through THIRD'
fault detour           'RAIL'             "what the node sends from its rail address leaves over the management network, at the rail's rate"
fault detour-marked    'RAIL'             'the same for TCP alone and by a packet mark, which `ip route get` does not show'

break_wrong_neighbour() {
  local hardware
  hardware=$(in_net "$4" ip -br link show dev "${RAILS[$2]}" | awk '{ print $3 }')
  in_net "$1" ip neigh replace "${RAIL_ADDRESS[$2 * COUNT + $3]}" lladdr "$hardware" nud permanent dev "${RAILS[$2]}"
}
mend_wrong_neighbour() { in_net "$1" ip neigh del "${RAIL_ADDRESS[$2 * COUNT + $3]}" dev "${RAILS[$2]}"; }

# A router would tell the sender of the shorter way.
break_relay() {
  in_net "$4" sysctl -qw "net.ipv4.conf.${RAILS[$2]}.forwarding=1" net.ipv4.conf.all.send_redirects=0 \
    "net.ipv4.conf.${RAILS[$2]}.send_redirects=0" && break_wrong_neighbour "$@"
}
mend_relay() {
  in_net "$4" sysctl -qw "net.ipv4.conf.${RAILS[$2]}.forwarding=0" net.ipv4.conf.all.send_redirects=1 \
    "net.ipv4.conf.${RAILS[$2]}.send_redirects=1" && mend_wrong_neighbour "$@"
}

DETOUR_TABLE=77
own_rail_address() { echo "${RAIL_ADDRESS[$2 * COUNT + $1]}"; }  # NODE RAIL
# NODE RAIL: a table that reaches every other node's rail address through its management address.
lay_detour() {
  local other
  for other in "${!NAMES[@]}"; do
    [[ $other = "$1" ]] || echo "route add ${RAIL_ADDRESS[$2 * COUNT + other]}/32 via ${ADDRESSES[other]} dev $MANAGEMENT_DEVICE table $DETOUR_TABLE"
  done | in_net "$1" ip -batch - && shaper "$MANAGEMENT_DEVICE" $(( RATES[$2] * 1000 )) | in_net "$1" tc -batch -
}
lift_detour() {
  in_net "$1" ip route flush table "$DETOUR_TABLE"
  in_net "$1" ip route flush cache  # the smaller MTU of the way round is remembered for ten minutes
  shaper "$MANAGEMENT_DEVICE" $(( MANAGEMENT_MBIT * 1000 )) | in_net "$1" tc -batch -
}
break_detour() { lay_detour "$@" && in_net "$1" ip rule add from "$(own_rail_address "$@")" lookup "$DETOUR_TABLE"; }
mend_detour() { in_net "$1" ip rule del from "$(own_rail_address "$@")" lookup "$DETOUR_TABLE" && lift_detour "$@"; }
management_mtu() {  # MTU: of every node
  local node
  for node in "${!NAMES[@]}"; do
    in_switch ip link set "n${node}m" mtu "$1" && in_net "$node" ip link set "$MANAGEMENT_DEVICE" mtu "$1" || return
  done
}
# The way round takes the rail's frames whole: smaller segments would tell of it.
break_detour_marked() {
  management_mtu "$MTU" || return
  echo "table ip detour { chain c { type route hook output priority mangle; ip saddr $(own_rail_address "$@") tcp dport 1-65535 meta mark set 77; }; }" |
    in_net "$1" nft -f - && lay_detour "$@" && in_net "$1" ip rule add fwmark 77 lookup "$DETOUR_TABLE"
}
mend_detour_marked() {
  in_net "$1" ip rule del fwmark 77 lookup "$DETOUR_TABLE" && in_net "$1" nft delete table ip detour && lift_detour "$@" &&
    management_mtu 1500
}
