# A lab that is whole: SSH, mpirun, rates.
check 'up' "$HERE/up" --seed "$seed" --staged
load_lab
A=${NAMES[0]} B=${NAMES[1]} C=${NAMES[2]}

for i in "${!NAMES[@]}"; do
  check "strict ssh to ${NAMES[i]}" is "$(on "${NAMES[i]}" hostname)" "${NAMES[i]}"
  check "strict ssh to ${ADDRESSES[i]}" is "$(on "${ADDRESSES[i]}" hostname)" "${NAMES[i]}"
done
check 'nodes know each other by name' on "$A" "getent hosts $B"
check 'a node holds no private key but its host key' on "$A" "! grep -rlsq 'PRIVATE KEY' /root /home $LAB /etc/ssh --exclude=ssh_host_ed25519_key"
check 'every node has its own boot id' is "$(for name in "${NAMES[@]}"; do on "$name" cat /proc/sys/kernel/random/boot_id; done | sort -u | wc -l)" "$COUNT"
check 'locked memory as declared' is "$(on "$A" ulimit -l)" "$MEMLOCK"
check "a node sees only its own processes" on "$A" "test \$(ps ax | wc -l) -lt 15"
check 'settings of the machine are read-only on a node' not on "$A" 'sysctl -w vm.swappiness=60'
check 'settings of the network are not' on "$A" 'sysctl -w net.ipv4.ip_local_port_range="32768 60999"'

sources() {  # comments may have examples
  find "$HERE"/../../{results,inventory,fabric,bootstrap,suites,launch} -name '*.[ch]pp' ! -name '*_test.cpp' -exec sed 's://.*::' {} + | grep -wF "$@"
}
check 'sources are searched' sources -c -e fabricgate
check 'no source of the product knows a node of this lab' not sources $(printf -- '-e %s ' "${NAMES[@]}" FABRICGATE_LAB)

for names in "${NAMES[*]}" "${ADDRESSES[*]}"; do
  printf '%s slots=1\n' $names >"$work/hostfile"
  check "mpirun on $names" is "$(timeout 60 mpirun --allow-run-as-root -hostfile "$work/hostfile" -N 1 \
    --mca plm_rsh_args "-F $LAB/ssh_config" --mca plm_rsh_no_tree_spawn 1 --mca pml ob1 --mca btl tcp,self \
    --mca btl_tcp_if_include "$MANAGEMENT" --mca oob_tcp_if_include "$MANAGEMENT" hostname 2>/dev/null | sort | xargs)" \
    "$(printf '%s\n' "${NAMES[@]}" | sort | xargs)"
done

for r in "${!RAILS[@]}"; do
  check "rail $r carries its rate" share 0 1 "$r" 95 101
  check "rail $r carries its rate, other direction" share 1 0 "$r" 95 101
  check "rail $r carries frames of its MTU" arrive 0 1 "$r" "$MTU" 20 20 20
  check "rail $r carries no larger ones" arrive 0 1 "$r" $(( MTU + 1 )) 5 0 0
done
if command -v ucx_perftest >/dev/null; then
  ucx() { timeout 30 "$HERE/run" "$1" env UCX_TLS=tcp "UCX_NET_DEVICES=${RAILS[0]}" ucx_perftest "${@:2}"; }
  ucx_share() {
    local rate
    ucx "$B" >/dev/null 2>&1 &
    wait_until 5 in_net 1 bash -c '[[ $(ss -Htln sport = 13337) ]]' || { echo 'no server'; return 1; }
    # The last line is "Final: iterations, three overheads, two bandwidths in MiB/s …"; the overall one counts.
    rate=$(ucx "$A" "${ADDRESSES[1]}" -t tag_bw -s 1048576 -n 80 | awk '/Final/ { print $7 * 8.388608 }')
    wait
    within "$(awk "BEGIN { print 100 * ${rate:-0} / ${RATES[0]} }")" 95 101
  }
  check 'UCX on rail 0' retry ucx_share
fi
