# Soft-RoCE on the adapter and on a virtual function of it, and RDMA writes between nodes over either.
make_function() {  # NODE ADDRESS: one virtual function with the address, on rail 0
  on "$1" "echo 1 >$functions && udevadm settle && function=\$(ls ${functions%/*}/virtfn0/net) &&
    ip link set \$function up && ip address add $2/24 dev \$function && modprobe rdma_rxe &&
    rdma link add rxe0 type rxe netdev ${RAILS[0]} && rdma link add rxe1 type rxe netdev \$function"
}
both_active() { is "$(on "$1" rdma link | grep -c 'state ACTIVE')" 2; }
write_bandwidth() {  # DEVICE ADDRESS of B
  local options="-d $1 -x $(on "$A" "grep -l 0000:ffff: /sys/class/infiniband/$1/ports/1/gids/* | grep -o '[0-9]*\$' | head -1") -u 18 -F -s 65536 -n 60"
  on "$B" "timeout 50 ib_write_bw $options >/tmp/server 2>&1" &
  soon on "$B" "ss -ltn | grep -q :18515" && on "$A" "timeout 50 ib_write_bw $options $2" >"$work/write" || { cat "$work/write"; return 1; }
  wait $! && awk '$1 == 65536 && $4 > 0 { print "   " "'"$1"': " $4 " MB/s"; found = 1 } END { exit !found }' "$work/write"
}
prefix=198.51.100  # of documentation, RFC 5737
check "$A: soft-RoCE on adapter and function" make_function "$A" $prefix.1
check "$B: soft-RoCE on adapter and function" make_function "$B" $prefix.2
for node in "$A" "$B"; do check "$node: both ports become active" soon both_active "$node"; done
check 'ib_write_bw over the adapter' write_bandwidth rxe0 "${RAIL_ADDRESS[1]}"
check 'ib_write_bw over the virtual function' write_bandwidth rxe1 $prefix.2
