# What the VM lab's scripts share. State folder, claims, recorded processes and their removal are those of ../lib.sh; this
# adds the image and a node that is a process of QEMU.
FABRICGATE_LAB=${FABRICGATE_LAB:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)/.lab-vm}
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
HERE=$REPO/ci/lab/vm
CACHE=${XDG_CACHE_HOME:-~/.cache}/fabricgate/vm

# --- the image: one folder per state of the recipe; see image/build for what is in it

# Sets IMAGE; builds it where it is absent. A build is moved into place when it is whole, and one is made at a time.
need_image() {
  local folder log=$CACHE/build.log
  IMAGE=$CACHE/$(cd "$HERE/image" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
  [[ ! -d $IMAGE ]] || { touch "$IMAGE"; return; }
  mkdir -p "$CACHE"
  exec 8>"$CACHE/lock"
  flock -n 8 || { echo "another lab builds the image; waiting for it"; flock 8; }
  if [[ ! -d $IMAGE ]]; then
    echo "building the image of the nodes, once: some minutes, 300 MB from Debian's mirror ($log)"
    find "$CACHE" -mindepth 1 -maxdepth 1 -type d \( -name 'build.*' -o -mtime +30 \) -exec rm -rf --one-file-system {} +
    folder=$(mktemp -d "$CACHE/build.XXXXXX")
    # In a mount namespace of its own, so that a build that is killed leaves no mount behind.
    if ! unshare --mount --propagation private "$HERE/image/build" "$folder" >"$log" 2>&1 8>&- </dev/null; then
      tail -n 5 "$log" >&2
      rm -rf --one-file-system "$folder"
      die "the image could not be built: the first build needs a mirror of Debian (\$FABRICGATE_DEBIAN_MIRROR); all of it is in $log" 69
    fi
    mv -T "$folder" "$IMAGE"
  fi
  exec 8>&-
}

# PROGRAM of the image's QEMU with the libraries that came with it: sets the array `program`.
qemu_program() {
  local root=$IMAGE/qemu libraries
  libraries=$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu
  program=(env "QEMU_MODULE_DIR=$root/usr/lib/x86_64-linux-gnu/qemu" "$root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    --library-path "$libraries" "$root/usr/bin/$1")
}

# --- nodes

mac_address() { printf '52:54:%s:%s:%02x:%02x' "${ID:0:2}" "${ID:2}" "$1" "$2"; }  # NODE PORT: 0 is the management network, 1 rail 0 …

make_disk() {  # INDEX: what the node writes, on top of the image; and what makes it differ from the others, on top of the initrd
  local i=$1 folder=$LAB/nodes/${NAMES[$1]} program
  qemu_program qemu-img
  "${program[@]}" create -q -f qcow2 -F raw -b "$IMAGE/rootfs.img" "$folder/disk"
  { cat "$IMAGE/initrd.img"; (cd "$folder" && find files | cpio -o -H newc --quiet -R 0:0); } >"$folder/initrd"
}

nic() {  # INDEX RAIL: QEMU's arguments for one SR-IOV adapter in a slot of its own
  echo "igb,id=rail$2,bus=slot$2,netdev=net$2,mac=$(mac_address "$1" $(( $2 + 1 ))),romfile="
}

boot_node() {  # INDEX
  local i=$1 r name=${NAMES[$1]} program machine kernel
  kernel="console=ttyS0 quiet loglevel=4 mitigations=off nokaslr no_timer_check tsc=reliable tsc_early_khz=$TSC_KHZ random.trust_cpu=on cryptomgr.notests apparmor=0 audit=0 init=$INIT"
  machine=(-name "$name" -machine q35 -accel 'tcg,thread=multi' -cpu 'qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand'
    -smp 1 -m "$MEMORY" -nodefaults -no-user-config -display none -L "$IMAGE/qemu/usr/share/qemu" -L "$IMAGE/qemu/usr/share/seabios"
    -kernel "$IMAGE/vmlinux" -initrd "$LAB/nodes/$name/initrd" -append "$kernel"
    -drive "file=$LAB/nodes/$name/disk,format=qcow2,if=none,id=disk,cache=unsafe" -device virtio-blk-pci,drive=disk
    -object rng-random,filename=/dev/urandom,id=random -device virtio-rng-pci,rng=random
    -netdev "tap,id=management,ifname=n${i}m,script=no,downscript=no"
    -device "virtio-net-pci,netdev=management,mac=$(mac_address "$i" 0),romfile="
    -serial "file:$LAB/nodes/$name/console" -monitor none -qmp "unix:$CLAIM/qmp-$i,server=on,wait=off")
  for r in "${!RAILS[@]}"; do
    machine+=(-netdev "tap,id=net$r,ifname=n${i}r$r,script=no,downscript=no"
      -device "pcie-root-port,id=slot$r,slot=$(( r + 1 )),chassis=$(( r + 1 )),addr=0x$(( r + 8 ))" -device "$(nic "$i" "$r")")
  done
  qemu_program qemu-system-x86_64
  rm -f "$CLAIM/qmp-$i"
  start_recorded "$CLAIM/pids/qemu-$i" "$LAB/nodes/$name/log" \
    nsenter --net="/run/netns/fg$ID-switch" -- "${program[@]}" "${machine[@]}"
}

in_node() {  # INDEX COMMAND…: over SSH, one connection for all commands
  local i=$1 command; shift
  printf -v command '%q ' "$@"
  ssh -F "$LAB/ssh_config" "${NAMES[i]}" "$command"
}

hang_up() { ! ssh -S "$CLAIM/ssh/${ADDRESSES[$1]}" -O exit - 2>/dev/null; rm -f "$CLAIM/ssh/${ADDRESSES[$1]}"; }  # INDEX

monitor() { python3 "$HERE/qmp.py" "$CLAIM/qmp-$1" "${@:2}"; }  # INDEX COMMAND [ARGUMENTS as JSON]
