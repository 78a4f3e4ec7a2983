# What the labs' own tests share: counted checks. Source after lib.sh; close with `checked`.
passed=0 failed=0
check() {  # TEXT COMMAND…
  local text=$1 output; shift
  if output=$("$@" 2>&1); then (( ++passed )); else (( ++failed )); echo "FAILED at second $SECONDS: $text${output:+ ($output)}"; fi
}
is() { [[ $1 = "$2" ]] || { echo "expected '$2', found '$1'"; return 1; }; }
not() { ! "$@"; }
break_() { check "break $*" "$HERE/break" "$@"; }
mend_() { check "mend $*" "$HERE/mend" "$@"; }
checked() {  # true when all passed
  echo "seed $seed"
  echo "$passed passed, $failed failed"
  (( failed == 0 ))
}
