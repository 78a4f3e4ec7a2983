# Stages of ci/test, sourced by it: minutes of each, and a report where each is a test that ci/claims.tsv can cite.
# $reports is the folder of the reports; what an earlier run left there is no evidence of this one.
#   stage NAME     ends the stage that runs and begins the next
#   try COMMAND…   a failure fails the stage, not what follows in it
#   end_stages     ends the last one and prints all; false if any failed
stage_name="" stage_began=0 stage_failed=no any_failed=no cases=""
mkdir -p "$reports" && rm -f "$reports"/*.xml && : > "$reports/stages"

try() { "$@" || stage_failed=yes any_failed=yes; }

end_stage() {
  [ -n "$stage_name" ] || return 0
  local minutes failure=""
  minutes=$(awk -v s=$((SECONDS - stage_began)) 'BEGIN{printf "%.1f", s/60}')
  [ $stage_failed = no ] || failure='<failure/>'
  printf 'ci/test: %-28s %5s minutes%s\n' "$stage_name" "$minutes" "${failure:+, failed}" | tee -a "$reports/stages"
  cases+="  <testcase name=\"ci/test: $stage_name\">$failure</testcase>"$'\n'
  printf '<testsuite name="ci/test">\n%s</testsuite>\n' "$cases" > "$reports/stages.xml"
}

stage() {
  end_stage
  stage_name=$1 stage_began=$SECONDS stage_failed=no
  printf '\n=== %s ===\n' "$1"
}

end_stages() {
  end_stage
  stage_name=""
  echo; cat "$reports/stages"
  [ $any_failed = no ]
}
