# The lab's network. One namespace, fg<id>-switch, holds the bridges and the far end of every cable:
#   mgmt              bridge of the management network; port "head" leads to link fg<id> of this machine
#   rail<r>a rail<r>b bridges of rail r, one per leaf; joined by the veth pair up<r>a - up<r>b
#   n<i>m n<i>r<r>    far ends of node i's cables
# Rails are shaped at both ends of the cable: by the node for what it sends, by the switch for what it receives. Offloads
# are off, so every frame on a rail is a real one of at most the MTU; the shaper counts the 14 bytes of Ethernet header,
# hence TCP payload reaches 99 % of the declared rate at MTU 9000 and 98 % at 4200.

BURST_US=4000      # bucket: this long at full rate; less costs throughput when timers are late on a busy machine
QUEUE_US=40000     # queue: this long at full rate
MANAGEMENT_MBIT=300

shaper() {  # DEVICE KBIT: the arguments for tc
  local burst=$(( $2 * BURST_US / 8000 ))
  (( burst >= 20000 )) || burst=20000  # two frames
  echo "qdisc replace dev $1 root handle 1: tbf rate ${2}kbit burst $burst limit $(( burst + $2 * QUEUE_US / 8000 ))"
}

leaf_letter() { [[ $1 = 0 ]] && echo a || echo b; }

rail_bridge() { echo "rail$2$(leaf_letter "${LEAF[$1]}")"; }  # NODE RAIL

uplink_kbit() { echo $(( ${RATES[$1]} * 1000 * COUNT )); }

quiet_ipv6() {  # NAMESPACE: no neighbour discovery on wires that are measured; some kernels have no IPv6 at all
  [[ ! -d /proc/sys/net/ipv6 ]] || nsenter --net="/run/netns/$1" -- sysctl -qw net.ipv6.conf.{all,default}.disable_ipv6=1
}

make_switch() {
  local r a space=fg$ID-switch bridge='type bridge forward_delay 0 mcast_snooping 0'
  ip netns add "$space"
  quiet_ipv6 "$space"
  ip link add "fg$ID" type veth peer name head netns "$space"
  ip address add "$HEAD/${MANAGEMENT#*/}" dev "fg$ID"
  {
    echo "link add mgmt $bridge"
    printf '%s\n' 'link set mgmt up' 'link set head master mgmt up'
    for r in "${!RAILS[@]}"; do
      for a in a b; do
        [[ $a = a || $LEAVES = 2 ]] || continue
        echo "link add rail$r$a mtu 9216 $bridge"
        echo "link set rail$r$a up"
      done
      [[ $LEAVES = 1 ]] || printf '%s\n' "link add up${r}a mtu 9216 type veth peer name up${r}b mtu 9216" \
        "link set up${r}a master rail${r}a up" "link set up${r}b master rail${r}b up"
    done
  } | in_switch ip -batch -
  ip link set "fg$ID" up
  [[ $LEAVES = 1 ]] || for r in "${!RAILS[@]}"; do
    for a in a b; do in_switch ethtool -K "up$r$a" tso off gso off; shaper "up$r$a" "$(uplink_kbit "$r")"; done
  done | in_switch tc -batch -
}

plug_node() {  # INDEX
  local i=$1 r space=fg$ID-$1 device
  ip netns add "$space"
  quiet_ipv6 "$space"
  {
    echo "link add n${i}m type veth peer name $MANAGEMENT_DEVICE netns $space"
    echo "link set n${i}m master mgmt up"
    for r in "${!RAILS[@]}"; do
      echo "link add n${i}r$r mtu 9216 type veth peer name ${RAILS[r]} netns $space"
      echo "link set n${i}r$r master $(rail_bridge "$i" "$r") up"
    done
  } | in_switch ip -batch -
  {
    printf '%s\n' 'link set lo up' "link set $MANAGEMENT_DEVICE up" \
      "address add ${ADDRESSES[i]}/${MANAGEMENT#*/} dev $MANAGEMENT_DEVICE"
    for r in "${!RAILS[@]}"; do
      device=${RAILS[r]}
      [[ -z $staged ]] || echo "address add ${RAIL_ADDRESS[r * COUNT + i]}/24 dev $device"
      echo "link set $device mtu $([[ -n $staged ]] && echo "$MTU" || echo 1500) up"
    done
  } | in_net "$i" ip -batch -
  # Linux answers ARP for any of its addresses on any interface, so a crossed rail would half work; staging sees to that.
  [[ -z $staged ]] || in_net "$i" sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
  for r in "${!RAILS[@]}"; do
    in_net "$i" ethtool -K "${RAILS[r]}" tso off gso off >/dev/null
    in_switch ethtool -K "n${i}r$r" tso off gso off >/dev/null
  done
  { shaper "$MANAGEMENT_DEVICE" $(( MANAGEMENT_MBIT * 1000 ))
    for r in "${!RAILS[@]}"; do shaper "${RAILS[r]}" $(( RATES[r] * 1000 )); done; } | in_net "$i" tc -batch -
  { shaper "n${i}m" $(( MANAGEMENT_MBIT * 1000 ))
    for r in "${!RAILS[@]}"; do shaper "n${i}r$r" $(( RATES[r] * 1000 )); done; } | in_switch tc -batch -
}
