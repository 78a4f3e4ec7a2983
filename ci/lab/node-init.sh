# Process 1 of a node, given its name and RLIMIT_MEMLOCK (unlimited or KiB): what a boot makes anew, then sshd.
set -eu
cd /
name=$1 memlock=$2
mount -t proc proc /proc
# Only the network settings are the node's own; the others are this machine's and stay as they are.
mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys
mount --bind /proc/sys/net /proc/sys/net && mount -o remount,bind,rw /proc/sys/net
mount -t sysfs -o ro sysfs /sys
mount -t tmpfs -o mode=755,size=64m tmpfs /run
mount -t tmpfs -o mode=1777,size=512m tmpfs /tmp
mount -t tmpfs -o mode=755,size=1m tmpfs /dev
mkdir -m 1777 /dev/shm && mount -t tmpfs -o mode=1777,size=1g tmpfs /dev/shm
mkdir /dev/pts && mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts
ln -s pts/ptmx /dev/ptmx
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin; ln -s fd/1 /dev/stdout; ln -s fd/2 /dev/stderr
for device in 'null 1 3' 'zero 1 5' 'full 1 7' 'random 1 8' 'urandom 1 9' 'tty 5 0'; do
  set -- "$1" $device; mknod -m 666 "/dev/$2" c "$3" "$4"
done
# Every machine has its own boot id; UCX would take nodes that share one for a single machine.
cat /proc/sys/kernel/random/uuid >/run/boot_id
mount --bind /run/boot_id /proc/sys/kernel/random/boot_id

hostname "$name"
mkdir -p /run/sshd /run/lock
ulimit -l "$memlock"
/usr/sbin/sshd -E /run/sshd.log
set +e
trap : CHLD  # bash reaps what the node's processes leave behind
while :; do sleep infinity & wait $!; done
