# Makes a node's root file system and keeps it: runs in the node's own mount namespace, so no mount is seen outside and
# all go when this process ends.   node-disk.sh FOLDER HIDDEN:HIDDEN [BIND…]
set -eu
folder=$1 root=$1/root
IFS=: read -ra hidden <<<"$2"; shift 2
exec 3>"$folder/disk-ready"

overlay() { mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$root"; }
mkdir -p "$root" "$folder"/{upper,work,home,memory}
if ! overlay "$folder" 2>/dev/null; then  # a file system that cannot be an upper layer, such as another overlay
  mount -t tmpfs -o size=1g,mode=755 tmpfs "$folder/memory"
  mkdir "$folder"/memory/{upper,work}
  overlay "$folder/memory"
fi

# What is this machine's own must not be seen on a node: homes and keys, the source tree, the state folder.
mkdir -p "$root/root" "$root/home" "$root/opt/fabricgate" "$root/var/tmp"
rm -f "$root"/etc/ssh/ssh_host_* "$root"/etc/ssh/sshd_config "$root"/etc/{hostname,hosts,machine-id,resolv.conf}
cp -a "$folder/files/." "$root/"
sed -i 's/^root:!*:/root:*:/' "$root/etc/shadow"  # a locked account is refused by sshd even with a key
mount --bind "$folder/home" "$root/root"
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/home"
for path in "${hidden[@]}"; do
  [[ ! -d $root$path ]] || mount -t tmpfs -o size=4k,mode=755 tmpfs "$root$path"
done
for path in "$@"; do
  mkdir -p "$root$path" && mount --bind "$path" "$root$path" && mount -o remount,bind,ro "$root$path"
done

# A small disk of its own for what fabricgate installs and spools, so that it can be filled.
mkdir -p "$root/mnt" && mount -t tmpfs -o size=192m,mode=755 tmpfs "$root/mnt"
mkdir -m 755 "$root/mnt/install" && mkdir -m 1777 "$root/mnt/spool"
mount --bind "$root/mnt/install" "$root/opt/fabricgate"
mount --bind "$root/mnt/spool" "$root/var/tmp"
umount "$root/mnt"

cd "$root"
mkdir -p .old
pivot_root . .old
mount -t proc proc /proc  # umount looks into it
umount -l /.old
umount -l /proc
rmdir /.old
echo ready >&3
exec 3>&- >/dev/null 2>&1
exec sleep infinity
