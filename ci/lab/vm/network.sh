# The VM lab's network: that of ../network.sh (bridges and the head's link in a namespace fg<id>-switch), with a tap of QEMU
# where a cable of a namespace node would end: n<i>m n<i>r<r>. A rail is shaped at the taps, so by the node that receives.
source "$HERE/../network.sh"

QUEUE_US=200000  # RoCE does not slow down when a frame is lost, so the switch holds what a queue pair may have under way

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
  for r in "${!RAILS[@]}"; do shaper "n${i}r$r" $(( RATES[r] * 1000 )); done | in_switch tc -batch -
}
