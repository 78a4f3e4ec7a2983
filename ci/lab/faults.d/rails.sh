# Faults of rails: cables, ports, switches. A function break_X gets the node's index, then the arguments of the table.
source "$HERE/network.sh"

fault rail-half        'RAIL'          'the rail runs at half its rate, both directions'
fault rail-dip         'RAIL [SECONDS [PATTERN [DELAY]]]' 'half the rate for two seconds, both directions; nothing to mend; with SECONDS as for rank-stop'
fault rail-half-tx     'RAIL'          'half the rate for what the node sends'
fault rail-half-rx     'RAIL'          'half the rate for what the node receives'
fault rail-down        'RAIL [SECONDS [PATTERN [DELAY]]]' 'no carrier: the far end of the cable is down; with SECONDS as for rank-stop'
fault rail-silent      'RAIL [SECONDS [PATTERN [DELAY]]]' 'carrier, but the switch port drops every frame; with SECONDS as for rank-stop'
fault rail-flap        'RAIL [TIMES]'  'the carrier goes and comes back, TIMES (3) within a second; nothing to mend'
fault rail-admin-down  'RAIL'          'the interface is set down on the node'
fault mtu-1500         'RAIL'          'the interface has MTU 1500'
fault mtu-path         'RAIL'          'the interface shows its MTU, the switch port drops frames over 1500'
fault loss             'RAIL PERCENT'  'frames are lost at random, both directions'
fault loss-tx          'RAIL PERCENT'  'frames that the node sends are lost at random'
fault loss-rx          'RAIL PERCENT'  'frames to the node are lost at random'
fault tcp-loss         'RAIL PERCENT'  'TCP segments are lost at random, both directions; everything else passes'
fault blackout         'RAIL MILLISECONDS EVERY' 'every frame is lost for so long, every so many seconds'
fault half-duplex      'RAIL'          'the rail carries its rate in both directions together'
fault tcp-drop         'RAIL'          'the switch port drops TCP, everything else passes'
fault icmp-drop        'RAIL'          'the switch port drops ICMP, everything else passes'
fault syn-drop         'RAIL'          'what opens a TCP connection to the node is dropped; its own connections work'
fault flow-drop        'RAIL'          'one TCP connection of 16, by its ports, loses all that is sent to the node'
fault flow-mtu         'RAIL'          'the same, of what is over 1500 bytes alone: the connection is made and carries nothing large'
fault flow-slow        'RAIL'          'one TCP connection of 16, by its ports, is policed to 110 frames a second towards the node'
fault syn-loss         'RAIL PERCENT'  'what opens a TCP connection to the node is lost at random'
fault mss-clamp        'RAIL'          'TCP connections of the node are told to send it segments of 600 bytes at most'
fault route-mtu        'RAIL'          "the node's routes of the rail have an MTU of 1500, locked; the interface keeps its own"
fault crossed          ''              'the cables of rail 0 and rail 1 are swapped'
fault crossed-between  'OTHER'         'the cables of rail 0 of NODE and rail 1 of OTHER are swapped'
fault duplicate-address 'RAIL OTHER'   "the node has OTHER's address on the rail instead of its own"
fault uplink-slow      'RAIL [PERCENT]' "the link between the rail's two switches has that share of its rate, default 10 (up --leaves 2)"

TCP='ether type ip ip protocol tcp'  # a rule's beginning

send_rate() { shaper "${RAILS[$2]}" "$3" | in_net "$1" tc -batch -; }    # NODE RAIL KBIT
receive_rate() { shaper "n$1r$2" "$3" | in_switch tc -batch -; }

break_rail_half() { break_rail_half_tx "$@" && break_rail_half_rx "$@"; }
mend_rail_half() { mend_rail_half_tx "$@" && mend_rail_half_rx "$@"; }
break_rail_half_tx() { send_rate "$1" "$2" $(( RATES[$2] * 500 )); }
mend_rail_half_tx() { send_rate "$1" "$2" $(( RATES[$2] * 1000 )); }
break_rail_half_rx() { receive_rate "$1" "$2" $(( RATES[$2] * 500 )); }
mend_rail_half_rx() { receive_rate "$1" "$2" $(( RATES[$2] * 1000 )); }

# NODE RAIL [SECONDS [PATTERN [DELAY]]]: at once, or when such a process runs.
await_moment() { (( $# < 3 )) || await_ranks "$1" "${@:3}" >/dev/null; }
break_rail_dip() { await_moment "$@" && break_rail_half "$1" "$2" && sleep 2 && mend_rail_half "$1" "$2"; }
mend_rail_dip() { :; }
break_rail_down() { await_moment "$@" && in_switch ip link set "n$1r$2" down; }
mend_rail_down() { in_switch ip link set "n$1r$2" up; }
break_rail_flap() {
  local n
  [[ ${3-3} =~ ^[1-9][0-9]?$ ]] || usage_error "TIMES is 1 to 99, not '$3'"
  for (( n = 0; n < ${3-3}; ++n )); do
    mend_rail_down "$1" "$2"; break_rail_down "$1" "$2"; sleep 0.05; mend_rail_down "$1" "$2"; sleep 0.05
  done
}
mend_rail_flap() { :; }
break_rail_admin_down() { in_net "$1" ip link set "${RAILS[$2]}" down; }
mend_rail_admin_down() { in_net "$1" ip link set "${RAILS[$2]}" up; }

break_mtu_1500() {
  in_net "$1" ip -o link show "${RAILS[$2]}" | sed 's/.* mtu \([0-9]*\) .*/\1/' >"$BEFORE"
  in_net "$1" ip link set "${RAILS[$2]}" mtu 1500
}
mend_mtu_1500() { in_net "$1" ip link set "${RAILS[$2]}" mtu "$(<"$BEFORE")"; }

# TABLE RULE…: frames that a rule matches are dropped by the switch; shapers and interfaces stay as they are.
drop_frames() {
  local table=$1; shift
  { echo "table bridge $table { chain c { type filter hook forward priority 0"
    printf '%s drop\n' "$@"; echo '}'; echo '}'; } | in_switch nft -f -
}
forward_frames() { in_switch nft delete table bridge "$1"; }

break_mtu_path() { drop_frames "mtu_n$1r$2" "iifname n$1r$2 meta length > 1500" "oifname n$1r$2 meta length > 1500"; }
mend_mtu_path() { forward_frames "mtu_n$1r$2"; }

share_of() {  # PERCENT: of 100000
  local share
  [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage_error "PERCENT is a number, not '$1'"
  share=$(awk "BEGIN { printf \"%d\", $1 * 1000 }")
  (( share > 0 && share <= 100000 )) || usage_error "PERCENT is above 0 and at most 100, not '$1'"
  echo "$share"
}

# NODE RAIL PERCENT TABLE IN OUT. Where the kernel's nft draws no random numbers netem is put under the shapers.
lose() {
  local share rules=()
  share=$(share_of "$3") || return
  [[ -z $5 ]] || rules+=("iifname n$1r$2 numgen random mod 100000 < $share")
  [[ -z $6 ]] || rules+=("oifname n$1r$2 numgen random mod 100000 < $share")
  drop_frames "$4_n$1r$2" "${rules[@]}" 2>"$BEFORE" && return
  [[ -z $5 ]] || in_net "$1" tc qdisc replace dev "${RAILS[$2]}" parent 1:1 netem loss "$3%" limit 10000 || return
  [[ -z $6 ]] || in_switch tc qdisc replace dev "n$1r$2" parent 1:1 netem loss "$3%" limit 10000
}
unlose() {  # NODE RAIL TABLE
  forward_frames "$3_n$1r$2" 2>/dev/null && return
  in_net "$1" tc qdisc del dev "${RAILS[$2]}" parent 1:1 2>/dev/null
  in_switch tc qdisc del dev "n$1r$2" parent 1:1 2>/dev/null
  return 0
}
break_loss() { lose "$1" "$2" "$3" loss yes yes; }
mend_loss() { unlose "$1" "$2" loss; }
break_loss_tx() { lose "$1" "$2" "$3" losstx yes ''; }
mend_loss_tx() { unlose "$1" "$2" losstx; }
break_loss_rx() { lose "$1" "$2" "$3" lossrx '' yes; }
mend_loss_rx() { unlose "$1" "$2" lossrx; }

break_tcp_loss() {
  local share tcp="$TCP numgen random mod 100000"
  share=$(share_of "$3") || return
  drop_frames "tcploss_n$1r$2" "iifname n$1r$2 $tcp < $share" "oifname n$1r$2 $tcp < $share"
}
mend_tcp_loss() { forward_frames "tcploss_n$1r$2"; }

break_blackout() {
  [[ $3 =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "MILLISECONDS is 1 to 9999, not '$3'"
  [[ $4 =~ ^[1-9][0-9]?$ ]] || usage_error "EVERY is 1 to 99 seconds, not '$4'"
  start_recorded "$CLAIM/pids/blackout-n$1r$2" "$LAB/nodes/${NAMES[$1]}/log" nsenter --net="/run/netns/fg$ID-switch" -- bash -c '
    exec 3<> <(:)  # never readable: a pause without a process that outlives this one
    while :; do
      read -rt "$3" -u 3
      nft "table bridge $1 { chain c { type filter hook forward priority 0; iifname $2 drop; oifname $2 drop; }; }"
      read -rt "$4" -u 3
      nft delete table bridge "$1"
    done' - "dark_n$1r$2" "n$1r$2" "$4" "$(( $3 / 1000 )).$(printf %03d $(( $3 % 1000 )))"
}
mend_blackout() { end_recorded "$CLAIM/pids/blackout-n$1r$2"; forward_frames "dark_n$1r$2" 2>/dev/null; true; }

# One shaper for both directions, before those of each; 2 % faster, so that one direction alone is left to its own.
break_half_duplex() {
  local port=n$1r$2 both=h$1r$2 way
  in_switch ip link add "$both" mtu 9216 type ifb && in_switch ip link set "$both" up &&
    shaper "$both" $(( RATES[$2] * 1020 )) | in_switch tc -batch - && in_switch tc qdisc add dev "$port" clsact || return
  for way in ingress egress; do
    in_switch tc filter add dev "$port" "$way" protocol all u32 match u32 0 0 action mirred egress redirect dev "$both" || return
  done
}
mend_half_duplex() { in_switch tc qdisc del dev "n$1r$2" clsact; in_switch ip link del "h$1r$2"; }

break_rail_silent() { await_moment "$@" && drop_frames "silent_n$1r$2" "iifname n$1r$2" "oifname n$1r$2"; }
mend_rail_silent() { forward_frames "silent_n$1r$2"; }
break_tcp_drop() { drop_frames "tcp_n$1r$2" "iifname n$1r$2 $TCP" "oifname n$1r$2 $TCP"; }
mend_tcp_drop() { forward_frames "tcp_n$1r$2"; }
break_icmp_drop() { drop_frames "icmp_n$1r$2" "iifname n$1r$2 ip protocol icmp" "oifname n$1r$2 ip protocol icmp"; }
mend_icmp_drop() { forward_frames "icmp_n$1r$2"; }

break_syn_drop() { drop_frames "syn_n$1r$2" "oifname n$1r$2 $TCP tcp flags & (syn | ack) == syn"; }
mend_syn_drop() { forward_frames "syn_n$1r$2"; }
ONE_OF_16="$TCP jhash tcp sport . tcp dport mod 16 seed 0x5eed == 3"
break_flow_drop() { drop_frames "flow_n$1r$2" "oifname n$1r$2 $ONE_OF_16"; }
mend_flow_drop() { forward_frames "flow_n$1r$2"; }
break_flow_mtu() { drop_frames "flowmtu_n$1r$2" "oifname n$1r$2 meta length > 1500 $ONE_OF_16"; }
mend_flow_mtu() { forward_frames "flowmtu_n$1r$2"; }
break_flow_slow() { drop_frames "flowslow_n$1r$2" "oifname n$1r$2 meta length > 1500 $ONE_OF_16 limit rate over 110/second burst 2 packets"; }  # of bytes nft lets a whole second through at once
mend_flow_slow() { forward_frames "flowslow_n$1r$2"; }
break_syn_loss() {
  local share
  share=$(share_of "$3") || return
  drop_frames "synloss_n$1r$2" "oifname n$1r$2 $TCP tcp flags & (syn | ack) == syn numgen random mod 100000 < $share"
}
mend_syn_loss() { forward_frames "synloss_n$1r$2"; }
break_mss_clamp() {
  echo "table bridge mss_n$1r$2 { chain c { type filter hook forward priority 0
    iifname n$1r$2 $TCP tcp flags & syn == syn tcp option maxseg size set 600; }; }" | in_switch nft -f -
}
mend_mss_clamp() { forward_frames "mss_n$1r$2"; }
break_route_mtu() {
  in_net "$1" ip route show dev "${RAILS[$2]}" >"$BEFORE"
  sed "s/\$/ dev ${RAILS[$2]} mtu lock 1500/; s/^/route replace /" "$BEFORE" | in_net "$1" ip -batch -
}
mend_route_mtu() { sed "s/\$/ dev ${RAILS[$2]}/; s/^/route replace /" "$BEFORE" | in_net "$1" ip -batch -; }

plug() { in_switch ip link set "n$1r$2" master "$3"; }  # NODE RAIL BRIDGE
break_crossed() { plug "$1" 0 "$(rail_bridge "$1" 1)" && plug "$1" 1 "$(rail_bridge "$1" 0)"; }
mend_crossed() { plug "$1" 0 "$(rail_bridge "$1" 0)" && plug "$1" 1 "$(rail_bridge "$1" 1)"; }
break_crossed_between() { plug "$1" 0 "$(rail_bridge "$2" 1)" && plug "$2" 1 "$(rail_bridge "$1" 0)"; }
mend_crossed_between() { plug "$1" 0 "$(rail_bridge "$1" 0)" && plug "$2" 1 "$(rail_bridge "$2" 1)"; }

break_duplicate_address() {
  in_net "$1" ip -o -4 addr show dev "${RAILS[$2]}" | awk '{ print $4 }' >"$BEFORE"
  in_net "$1" ip addr flush dev "${RAILS[$2]}"
  in_net "$1" ip addr add "${RAIL_ADDRESS[$2 * COUNT + $3]}/24" dev "${RAILS[$2]}"
}
mend_duplicate_address() {
  local address
  in_net "$1" ip addr flush dev "${RAILS[$2]}"
  for address in $(<"$BEFORE"); do in_net "$1" ip addr add "$address" dev "${RAILS[$2]}"; done
}

set_uplink() {  # RAIL KBIT
  { shaper "up${1}a" "$2"; shaper "up${1}b" "$2"; } | in_switch tc -batch -
}
break_uplink_slow() {
  [[ $LEAVES = 2 ]] || usage_error "this lab has one switch per rail; uplink-slow needs ci/lab/up --leaves 2"
  [[ ${3-10} =~ ^[0-9]+$ ]] && (( ${3-10} > 0 && ${3-10} <= 100 )) || usage_error "PERCENT is 1 to 100, not '$3'"
  set_uplink "$2" $(( $(uplink_kbit "$2") * ${3-10} / 100 ))
}
mend_uplink_slow() { set_uplink "$2" "$(uplink_kbit "$2")"; }
