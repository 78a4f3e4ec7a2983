# How a test of the product in VMs begins. Source with the test's name and arguments: FABRICGATE [SEED]. A lab's folder of its own, taken
# down at the end; small copies of the programs in $work/bin.
source "${BASH_SOURCE[0]%/*}/lib.sh"
source "$HERE/checks.sh"
[[ $(uname -m) = x86_64 ]] || { echo "skipped: the VM lab needs an x86-64 machine, this one is $(uname -m)"; exit 77; }
need_root
(( $# > 1 )) || usage_error "ci/lab/vm/$1_test FABRICGATE [SEED]"
program=$(realpath "$2") seed=${3:-$(( SRANDOM % 100000 ))}
work=$(mktemp -d "/tmp/fabricgate-vm-$1.XXXXXX")
export FABRICGATE_LAB=$work/lab
LAB=$FABRICGATE_LAB
end() { "$HERE/down"; rm -rf --one-file-system "$work"; }
trap end EXIT

says() { [[ $said = *"$1"* ]] || { echo "'$1' is not in: $said"; return 1; }; }
on() { timeout 60 ssh -n -F "$LAB/ssh_config" "$@"; }

# in the layout of an installation: emulated machines decrypt slowly
mkdir -p "$work/bin" "$work/libexec/fabricgate"
strip -o "$work/bin/fabricgate" "$program"
strip -o "$work/bin/fabricgate-rank" "$(dirname "$program")/fabricgate-rank"
cp "$(dirname "$program")/../bootstrap/agent/fabricgate-agent" "$work/libexec/fabricgate/"
