# Faults of rails. A function break_X gets the node's index, then the arguments of the table; RAIL is a rail's index.
source "$HERE/network.sh"

fault rail-down       'RAIL'         'the cable is pulled: no carrier'
fault rail-half       'RAIL'         'the switch port passes half the rate to the node'
fault rail-silent     'RAIL'         'carrier, but the switch port drops every frame'
fault rail-admin-down 'RAIL'         'the interface is set down on the node'
fault mtu-1500        'RAIL'         'the interface has MTU 1500'
fault loss-tx         'RAIL PERCENT' 'frames that the node sends are lost at random'
fault vfs-held        'RAIL'         'two virtual functions, one of which a network namespace "pod" on the node uses'
fault nic-gone        'RAIL'         'the adapter leaves the PCI bus; mend plugs it in again, with the settings it had'
fault aer             'RAIL'         'the adapter reports a corrected PCIe error; nothing to mend'

pull() { monitor "$1" set_link "{\"name\": \"rail$2\", \"up\": $3}"; }  # NODE RAIL false|true
break_rail_down() { pull "$1" "$2" false; }
mend_rail_down() { pull "$1" "$2" true; }

receive_rate() { shaper "n$1r$2" "$3" | in_switch tc -batch -; }  # NODE RAIL KBIT
break_rail_half() { receive_rate "$1" "$2" $(( RATES[$2] * 500 )); }
mend_rail_half() { receive_rate "$1" "$2" $(( RATES[$2] * 1000 )); }

break_rail_silent() { in_switch ip link set "n$1r$2" nomaster; }
mend_rail_silent() { in_switch ip link set "n$1r$2" master "$(rail_bridge "$1" "$2")"; }

break_rail_admin_down() { in_node "$1" ip link set "${RAILS[$2]}" down; }
mend_rail_admin_down() { in_node "$1" ip link set "${RAILS[$2]}" up; }

break_mtu_1500() { in_node "$1" cat "/sys/class/net/${RAILS[$2]}/mtu" >"$BEFORE" && set_mtu "$1" "$2" 1500; }
mend_mtu_1500() { set_mtu "$1" "$2" "$(<"$BEFORE")"; }
set_mtu() { in_node "$1" ip link set "${RAILS[$2]}" mtu "$3"; }

# Below the shaper: frames are lost on the wire.
break_loss_tx() { in_node "$1" tc qdisc replace dev "${RAILS[$2]}" parent 1:1 handle 10: netem loss "$3%"; }
mend_loss_tx() { in_node "$1" tc qdisc replace dev "${RAILS[$2]}" parent 1:1 handle 11: bfifo limit "$ROCE_QUEUE"; }

break_vfs_held() {
  in_node "$1" bash -c 'card=/sys/class/net/$1/device
    cat $card/sriov_numvfs
    [[ $(<$card/sriov_numvfs) != 0 ]] || echo 2 >$card/sriov_numvfs || exit
    udevadm settle
    ip netns add pod && ip link set "$(ls $card/virtfn0/net)" netns pod' - "${RAILS[$2]}" >"$BEFORE"
}
mend_vfs_held() {
  in_node "$1" bash -c 'ip netns del pod
    [[ $2 != 0 ]] || echo 0 >/sys/class/net/$1/device/sriov_numvfs' - "${RAILS[$2]}" "$(<"$BEFORE")"
}

break_nic_gone() {
  in_node "$1" bash -c 'ip -o -4 addr show dev $1 | while read -r _ _ _ address _; do echo "address add $address dev $1"; done
    echo "link set $1 mtu $(</sys/class/net/$1/mtu)"; [[ $(</sys/class/net/$1/flags) != *[13579bdf] ]] || echo "link set $1 up"' \
    - "${RAILS[$2]}" >"$BEFORE"
  monitor "$1" device_del "{\"id\": \"rail$2\"}" DEVICE_DELETED
}
mend_nic_gone() {
  local arguments
  arguments=$(sed -E 's/([^,=]*)=([^,]*)/"\1": "\2"/g; s/^[a-z]+/"driver": "&"/' <<<"$(nic "$1" "$2")")
  monitor "$1" device_add "{$arguments}" && wait_until 60 has_interface "$1" "${RAILS[$2]}" || return
  # With addresses and MTU from systemd-networkd there is nothing left to give; -force goes on after "exists".
  in_node "$1" ip -force -batch - <"$BEFORE" 2>/dev/null
  true
}
has_interface() { in_node "$1" test -e "/sys/class/net/$2"; }

# struct aer_error_inj of linux/drivers/pci/pcie/aer_inject.c; 0x40 is BadTLP among the correctable errors.
break_aer() {
  in_node "$1" bash -c 'modprobe aer_inject && card=$(basename "$(readlink /sys/class/net/$1/device)") &&
    python3 -c "import struct, sys
domain, bus, slot, function = (int(part, 16) for part in sys.argv[1].replace(\".\", \":\").split(\":\"))
open(\"/dev/aer_inject\", \"wb\", 0).write(struct.pack(\"=BBBx2L4LL\", bus, slot, function, 0, 0x40, 0, 0, 0, 0, domain))" $card' - "${RAILS[$2]}"
}
mend_aer() { :; }
