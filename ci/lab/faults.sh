# The table of faults and what break and mend share. A fault that is in force is a file
# $LAB/nodes/NODE/faults/FAULT or FAULT@RAIL with its arguments; beside it .before, what mend needs to know.
declare -A FAULT_ARGUMENTS FAULT_TEXT
FAULTS=()
fault() { FAULTS+=("$1"); FAULT_ARGUMENTS[$1]=$2; FAULT_TEXT[$1]=$3; }
for file in "$HERE"/faults.d/*.sh; do source "$file"; done

known_fault() { [[ -n ${FAULT_TEXT[$1]+yes} ]] || usage_error "no fault '$1'; known are: ${FAULTS[*]} (ci/lab/faults says more)"; }

# FAULT ARGUMENT…: sets the array `arguments` to indices of rails and nodes and plain values, as the table names them.
read_arguments() {
  local name=$1 word needed=0 words; shift
  read -ra words <<<"${FAULT_ARGUMENTS[$name]}"
  for word in "${words[@]}"; do [[ $word = \[* ]] || (( ++needed )); done
  (( $# >= needed && $# <= ${#words[@]} )) || usage_error "usage: ci/lab/break NODE $name ${FAULT_ARGUMENTS[$name]}"
  arguments=()
  for word in "${words[@]}"; do
    (( $# )) || break
    case $word in
      RAIL) [[ $1 =~ ^[0-9]$ && -n ${RAILS[$1]-} ]] || usage_error "no rail '$1' in this lab; it has 0 to $(( ${#RAILS[@]} - 1 )): ${RAILS[*]}" ;;
      OTHER|THIRD) set -- "$(node_index "$1")" "${@:2}"; [[ -n $1 ]] || exit 64 ;;
      *SECONDS*|*DELAY*) [[ $1 =~ ^[0-9]+$ ]] || usage_error "$word is a whole number, not '$1'" ;;
    esac
    arguments+=("$1"); shift
  done
}

mend_file() {  # INDEX FILE: undoes that fault
  local i=$1 name=${2##*/} arguments
  name=${name%@*}
  BEFORE=$2.before
  mapfile -t arguments <"$2"
  "mend_${name//-/_}" "$i" ${arguments[@]+"${arguments[@]}"} || die "$name on ${NAMES[i]} could not be mended"
  rm -f "$2" "$BEFORE"
}

# INDEX [FAULT]: the node comes back first; the others need it running.
mend_all() {
  local i=$1 file folder=$LAB/nodes/${NAMES[$1]}/faults
  for file in "$folder"/node-vanish "$folder"/*; do
    [[ -f $file && $file != *.before ]] || continue
    [[ -z ${2-} || ${file##*/} = "$2" || ${file##*/} = "$2"@* ]] && mend_file "$i" "$file"
  done
  return 0
}
