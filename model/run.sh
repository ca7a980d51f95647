#!/usr/bin/env bash
# Checks ledger.pml and document.pml with the model checker Spin, one line per scenario.
#
#   model/run.sh [quick]             every property and every mechanism, some minutes
#   model/run.sh full                the same, then larger scenarios
#   model/run.sh trace SWITCH...     the shortest counterexample for these switches, as a story
#
# The exit code is not 0 if a bound is broken that must hold, if a scenario that must break a bound
# does not, or if a search is not exhaustive. JOBS sets how many scenarios run at once (default 2).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
mode=${1:-quick}
for tool in spin gcc; do
  if ! command -v "$tool" >/dev/null; then
    echo "model: $tool is not installed. On Debian or Ubuntu: apt-get update && apt-get install -y spin gcc" >&2
    exit 2
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs_at_once=${JOBS:-2}
limit_s=${LIMIT_S:-300}

# build DIR MODEL OPTIONS SWITCH...: makes DIR/pan. OPTIONS are for the C compiler.
build() {
  local dir=$1 model=$2 options=$3
  shift 3
  mkdir -p "$dir"
  cp "$here/$model.pml" "$dir/"
  (cd "$dir" && spin -a "$@" "$model.pml" >spin.out 2>&1 && gcc -O1 -w $options -DMEMLIM=6000 -o pan pan.c) ||
    { cat "$dir/spin.out"; return 1; }
}

# story DIR MODEL SWITCH...: the counterexample in DIR, with the number of the tick before each line.
story() {
  local dir=$1 model=$2
  shift 2
  (cd "$dir" && spin -t "$@" "$model.pml" 2>&1 || true) | sed -n 's/^ *@ //p' |
    awk 'BEGIN { t = 0 } { print "    t=" t " " $0 } /^---- tick/ { t++ }'
}

number=0
running=0
wait_for_room() {
  while [ "$running" -ge "$jobs_at_once" ]; do
    wait -n || true
    running=$((running - 1))
  done
}
heading() {
  number=$((number + 1))
  printf '%s\n' "--- $1" >"$work/$number.line"
}

# scenario EXPECTED MODEL LABEL SWITCH...
# EXPECTED is "holds", or the asserted expression that the search must find broken ("sum", "quiet", "zero", "cycle").
scenario() {
  number=$((number + 1))
  wait_for_room
  run_scenario "$number" "$@" &
  running=$((running + 1))
}

run_scenario() {
  local at=$1 expected=$2 model=$3 label=$4 dir=$work/$1 options="-DSAFETY -DNOREDUCE -DCOLLAPSE" search="" found verdict states
  shift 4
  if [ "$expected" = cycle ] || [ "$expected" = no-cycle ]; then
    options="-DNP -DNOREDUCE -DCOLLAPSE"
    search=-l
    set -- -DNP "$@"
  fi
  build "$dir" "$model" "$options" "$@" || { echo "$label: does not compile" >"$work/$at.line"; touch "$work/failed"; return; }
  (cd "$dir" && timeout "$limit_s" ./pan $search -m1000000 -w24 -n >pan.out 2>&1) || true
  worst() { sed -n "s/^$1 //p" "$dir/pan.out" | tail -1; }
  states=$(awk '/states, stored/ { print $1 }' "$dir/pan.out" | tail -1)
  found=none
  if grep -q 'assertion violated' "$dir/pan.out"; then
    found=$(sed -n 's/.*assertion violated (*\([a-z]*\).*/\1/p' "$dir/pan.out" | head -1)
  elif grep -q 'non-progress cycle' "$dir/pan.out" && ! grep -q 'errors: 0' "$dir/pan.out"; then
    found=cycle
  elif [ -z "$states" ]; then
    found="no end within $limit_s s"
  elif grep -qE 'max search depth too small|reached -DMEMLIM|out of memory' "$dir/pan.out"; then
    found="not exhaustive"
  elif ! grep -q 'errors: 0' "$dir/pan.out"; then
    found="another error"
  fi
  verdict=ok
  case $expected in
    holds | no-cycle) [ "$found" = none ] || verdict="FAILED: $found" ;;
    *) [ "$found" = "$expected" ] || verdict="FAILED: expected a violation of '$expected', found: $found" ;;
  esac
  {
    if [ "$search" = -l ]; then
      printf '%-64s | %9s states | no cycle without a tick | %s\n' "$label" "${states:-?}" "$verdict"
    elif [ "$expected" = holds ]; then
      printf '%-64s | %9s states | sum %2s | settles %2s | zero %2s | over %2s | %s\n' "$label" "${states:-?}" \
        "$(worst 'WORST sum')" "$(worst 'WORST settle' | grep . || echo 0)" "$(worst 'WORST zero' | grep . || echo 0)" \
        "$(worst 'WORST over' | grep . || echo 0)" "$verdict"
    else
      printf '%-64s | %9s states | breaks %-5s as it must: sum %2s | %s\n' "$label" "${states:-?}" "$expected" "$(worst 'WORST sum')" "$verdict"
    fi
    if [ "$verdict" != ok ]; then
      touch "$work/failed"
      [ "$search" = -l ] || ! ls "$dir"/*.trail >/dev/null 2>&1 || echo "    model/run.sh trace $*"
    fi
  } >"$work/$at.part"
  mv "$work/$at.part" "$work/$at.line"
  rm -rf "$dir"
}
