# The VM lab's network: that of ../network.sh (bridges and the head's link in a namespace fg<id>-switch), with a tap of QEMU
# where a cable of a namespace node would end: n<i>m n<i>r<r>. Rails are shaped at both ends here too: by the node for what it
# sends (a rule of udev, so that it is there whenever the interface is), at the tap for what it receives.
# A tap has two queues. Class 1:20 is RoCE, which does not slow down when a frame is lost: its queue holds what queue pairs of
# rdma_rxe may have under way. Class 1:10 is everything else, with a queue that leaves TCP its round-trip time.
source "$HERE/../network.sh"

QUEUE_US=60000
ROCE_QUEUE=1200000  # bytes; 128 frames of 4 KiB are half of that
BURST=20000         # two frames

node_shaper() {  # DEVICE KBIT: arguments for tc on the node; TCP and rdma_rxe both wait for what they have queued there
  echo "qdisc replace dev $1 root handle 1: tbf rate ${2}kbit burst $BURST limit $ROCE_QUEUE"
}

shaper() {  # DEVICE KBIT: lines for tc
  local class
  echo "class replace dev $1 parent 1: classid 1:1 htb rate ${2}kbit burst $BURST cburst $BURST"
  for class in 10 20; do
    echo "class replace dev $1 parent 1:1 classid 1:$class htb rate $(( $2 / 2 ))kbit ceil ${2}kbit burst $BURST cburst $BURST"
  done
}

port() {  # DEVICE KBIT: lines for tc
  echo "qdisc add dev $1 root handle 1: htb default 10 r2q 100"  # what a queue may send at a turn: a frame or two
  shaper "$1" "$2"
  echo "qdisc add dev $1 parent 1:10 handle 10: bfifo limit $(( BURST + $2 * QUEUE_US / 8000 ))"
  echo "qdisc add dev $1 parent 1:20 handle 20: bfifo limit $ROCE_QUEUE"
}

tell_roce() {  # once a lab: by its UDP port
  echo 'table bridge roce { chain c { type filter hook forward priority 0; ether type ip udp dport 4791 meta priority set "1:20"; }; }' |
    in_switch nft -f -
}

plug_machine() {  # INDEX
  local i=$1 r
  {
    echo "tuntap add n${i}m mode tap"
    echo "link set n${i}m master mgmt up"
    for r in "${!RAILS[@]}"; do
      echo "tuntap add n${i}r$r mode tap"
      echo "link set n${i}r$r mtu 9216 master $(rail_bridge "$i" "$r") up"
    done
  } | in_switch ip -batch -
  for r in "${!RAILS[@]}"; do port "n${i}r$r" $(( RATES[r] * 1000 )); done | in_switch tc -batch -
}
