# Life of labs: several at once, `up` killed, state lost, nothing left behind.
check 'a second lab of the same seed' env FABRICGATE_LAB="$work/other" "$HERE/up" 4 --seed "$seed" --leaves 2 --staged
check 'the first goes on' on "$A" true
first=$ID
LAB=$work/other; load_lab
check 'leaves: full rate across the uplink' share 0 3 0 95 101
export FABRICGATE_LAB=$work/other
break_ "${NAMES[0]}" uplink-slow 0 10
check 'uplink-slow' share 0 3 0 35 41
check 'uplink-slow: same leaf' share 0 1 0 95 101
mend_ "${NAMES[0]}" uplink-slow
check 'uplink mended' share 0 3 0 95 101

traces() {  # ID: what the machine still has of that lab
  ip -o link | grep -o "fg$1[^:@]*"; ls /run/netns 2>/dev/null | grep "^fg$1"; ls -d "$CLAIMS/$1" 2>/dev/null
  grep -F "$work" /proc/mounts
  find -L /proc/[0-9]*/ns/net -maxdepth 0 -printf '%i %p\n' 2>/dev/null | grep -E "^($networks) "
}
inodes() { for name in /run/netns/fg"$1"-*; do stat -Lc %i "$name"; done | paste -sd'|'; }
networks=$(inodes "$ID")
check 'its processes are found' test -n "$(traces "$ID" | grep /proc/)"
check 'down' "$HERE/down"
check 'nothing is left' is "$(traces "$ID")" ''
check 'nor its folder' not test -e "$work/other"
check 'down again' "$HERE/down"

# Killed while it works: at several moments, then a new `up` of the same folder.
for delay in 0.1 0.3 0.5 0.7; do
  setsid "$HERE/up" 3 --seed "$seed" >/dev/null 2>&1 &
  victim=$!
  sleep "$delay"
  kill -KILL "$victim" 2>/dev/null; wait "$victim" 2>/dev/null
done
rm -f "$work/other/plan.sh"
check 'up after killed ones' "$HERE/up" 3 --seed "$seed"
check 'one claim for that folder' is "$(grep -lxF "$work/other" "$CLAIMS"/*/lab | wc -l)" 1
load_lab
check 'rails without address until staged' is "$(in_net 0 ip -4 -o addr show "${RAILS[0]}")" ''
check 'and with MTU 1500' in_net 0 grep -qx 1500 <(in_net 0 ip -o link show "${RAILS[0]}" | sed 's/.* mtu \([0-9]*\) .*/\1/')

# The state folder deleted by hand: any next `up` removes what is left of that lab.
networks=$(inodes "$ID") lost=$ID
rm -rf --one-file-system "$work/other"
networks+="|$(inodes "$first")"
FABRICGATE_LAB=$work/lab check 'up beside a lost lab' env FABRICGATE_LAB="$work/lab" "$HERE/up" 3 --seed "$seed"
check 'the lost lab is gone' is "$(ls -d /run/netns/fg"$lost"-* 2>/dev/null)" ''
LAB=$work/lab; load_lab
networks+="|$(inodes "$ID")"
export FABRICGATE_LAB=$work/lab
check 'down at the end' "$HERE/down"
for id in "$first" "$lost" "$ID"; do check 'nothing is left at the end' is "$(traces "$id")" ''; done
mkdir "$work/full" && touch "$work/full/mine"
check 'a folder that is no lab is left alone' not env FABRICGATE_LAB="$work/full" "$HERE/up" 3
check 'its file is there' test -e "$work/full/mine"
