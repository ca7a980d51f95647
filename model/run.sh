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
# EXPECTED is "holds", or the asserted expression that the search must find broken ("sum", "quiet", "zero", "over").
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

if [ "$mode" = trace ]; then
  shift
  build "$work/trace" "${MODEL:-ledger}" "-DSAFETY -DNOREDUCE -DBFS" "$@"
  (cd "$work/trace" && timeout "$limit_s" ./pan -w24 -n >pan.out 2>&1) || true
  grep -E 'assertion violated \(' "$work/trace/pan.out" || { echo "no counterexample"; exit 0; }
  story "$work/trace" "${MODEL:-ledger}" "$@"
  exit 0
fi

# holds LABEL SWITCH...: the sum stays within the ceiling (and the stated overshoot), and the pool settles
# within the bounds that README.md states.
bounds=(-DSETTLE_MAX=7 -DZERO_MAX=5 -DOVER_MAX=3)
holds() { local label=$1; shift; scenario holds ledger "$label" "${bounds[@]}" "$@"; }
# breaks PROPERTY LABEL SWITCH...: the search must find this property broken.
breaks() { local property=$1 label=$2; shift 2; scenario "$property" ledger "$label" "$@"; }

heading "all mechanisms on: the bounds hold"
holds "join" -DCAN_JOIN
holds "four members: 1 to 4 join in any order" -DMEMBERS=4 -DSTARTED=1 -DEVENTS=4 -DCAN_JOIN
holds "join, leave" -DCAN_JOIN -DCAN_LEAVE
holds "join, kill, restart under the same id" -DCAN_JOIN -DCAN_KILL
holds "join, pause" -DCAN_JOIN -DCAN_PAUSE
holds "join, partition" -DCAN_JOIN -DCAN_CUT
holds "join, up to 3 flushes" -DCAN_JOIN -DCAN_FLUSH
holds "join, up to 3 lost entries" -DCAN_JOIN -DCAN_LOSE
holds "join, failovers to an older state, 2 events" -DCAN_JOIN -DCAN_FAILOVER -DEVENTS=2
holds "join, pause, one step of the store's clock" -DCAN_JOIN -DCAN_PAUSE -DCAN_STEP
holds "join, flush, one step of the store's clock" -DCAN_JOIN -DCAN_FLUSH -DCAN_STEP
holds "two processes with one id, flush, pause, kill" -DTWINS -DCAN_FLUSH -DCAN_PAUSE -DCAN_KILL
holds "cold start, join, kill" -DCOLD_START -DCAN_JOIN -DCAN_KILL
holds "join, leave, kill, pause, partition" -DCAN_JOIN -DCAN_LEAVE -DCAN_KILL -DCAN_PAUSE -DCAN_CUT
holds "join, pause, partition, flush, lost entries" -DCAN_JOIN -DCAN_PAUSE -DCAN_CUT -DCAN_FLUSH -DCAN_LOSE

heading "delayed requests: all mechanisms on"
holds "delayed request, join, leave with a request in flight" -DCAN_DELAY -DCAN_JOIN -DCAN_LEAVE
holds "delayed request, join, flush" -DCAN_DELAY -DCAN_JOIN -DCAN_FLUSH
holds "delayed request, join, pause" -DCAN_DELAY -DCAN_JOIN -DCAN_PAUSE
holds "delayed request, join, partition" -DCAN_DELAY -DCAN_JOIN -DCAN_CUT
holds "delayed request, join, leave, lost entry or tombstone" -DCAN_DELAY -DCAN_JOIN -DCAN_LEAVE -DCAN_LOSE

heading "safe share of 3: sum at most 12 + 3 for each member that uses an uncovered safe share"
safe=(-DSAFE=3)
holds "first member of an empty store; cold start, join, kill" "${safe[@]}" -DSAFE_ON_EMPTY -DCOLD_START -DCAN_JOIN -DCAN_KILL
holds "first member of an empty store; flush, join" "${safe[@]}" -DSAFE_ON_EMPTY -DCAN_JOIN -DCAN_FLUSH
holds "every joiner; join, kill" "${safe[@]}" -DSAFE_ON_EMPTY -DSAFE_ON_JOIN -DCAN_JOIN -DCAN_KILL
holds "after the lease; join, partition" "${safe[@]}" -DSAFE_ON_LOSS -DCAN_JOIN -DCAN_CUT
holds "all three; join, partition, flush" "${safe[@]}" -DSAFE_ON_EMPTY -DSAFE_ON_JOIN -DSAFE_ON_LOSS -DCAN_JOIN -DCAN_CUT -DCAN_FLUSH
holds "all three; join, failover, 2 events" "${safe[@]}" -DSAFE_ON_EMPTY -DSAFE_ON_JOIN -DSAFE_ON_LOSS -DCAN_JOIN -DCAN_FAILOVER -DEVENTS=2
holds "all three; join, partition, lost entries" "${safe[@]}" -DSAFE_ON_EMPTY -DSAFE_ON_JOIN -DSAFE_ON_LOSS -DCAN_JOIN -DCAN_CUT -DCAN_LOSE

heading "one mechanism off: the search must find a violation"
breaks sum "no lease" -DNO_LEASE -DCAN_JOIN -DCAN_PAUSE
breaks sum "stale age shorter than the lease" -DSTALE=1 -DCAN_JOIN -DCAN_PAUSE
breaks sum "stale age without room for a clock step" -DSTALE=2 -DCAN_JOIN -DCAN_PAUSE -DCAN_STEP
breaks sum "no acknowledgement" -DNO_ACK -DCAN_JOIN
breaks sum "no learning" -DNO_LEARNING -DCAN_JOIN -DCAN_FLUSH
scenario holds ledger "no learning, with evidence: at most 24" -DNO_LEARNING -DSUM_MAX=24 -DCAN_JOIN -DCAN_FLUSH
breaks sum "no learning, no evidence: more than 24" -DNO_LEARNING -DNO_EVIDENCE -DSUM_MAX=24 -DCAN_JOIN -DCAN_FLUSH
breaks sum "no count check" -DNO_COUNT_CHECK -DCAN_JOIN -DCAN_LOSE
breaks sum "no run id check" -DNO_RUN_ID_CHECK -DCAN_JOIN -DCAN_FAILOVER
breaks sum "run id of a process, failover and back without a restart" -DRUN_ID_RETURNS -DCAN_JOIN -DCAN_FAILOVER -DEVENTS=4
breaks sum "no pool time" -DNO_POOL_TIME -DCAN_STEP -DCAN_JOIN
breaks sum "no nonce" -DNO_NONCE -DTWINS -DCAN_JOIN -DEVENTS=1
breaks sum "no sequence numbers" -DNO_SEQUENCE -DCAN_DELAY -DCAN_JOIN -DCAN_LEAVE
breaks sum "replies to superseded requests are accepted" -DACCEPT_SUPERSEDED -DCAN_DELAY -DCAN_JOIN
breaks sum "a reply is accepted although the reported lease has ended" -DNO_LAPSE_CHECK -DCAN_DELAY -DCAN_PAUSE -DMEMBERS=2
breaks sum "lease counted from the receipt" -DLEASE_FROM_RECEIPT -DREPLY_DELAY=2 -DCAN_JOIN -DCAN_PAUSE
scenario holds ledger "an unleased report is no evidence: settles within 3" -DSETTLE_MAX=3 "${safe[@]}" -DSAFE_ON_LOSS -DCAN_JOIN -DCAN_CUT
breaks quiet "an unleased report taken as evidence: settles later" -DSETTLE_MAX=3 -DUNLEASED_IS_EVIDENCE "${safe[@]}" -DSAFE_ON_LOSS -DCAN_JOIN -DCAN_CUT
delayed=(-DCAN_DELAY -DCAN_JOIN -DCAN_LEAVE -DSTRAYS_ARE_QUIET -DDELAYED_LIFE=3 -DSETTLE_MAX=4)
scenario holds ledger "tombstone: a request after the leave disturbs nothing" "${delayed[@]}"
breaks quiet "no tombstone: a request after the leave disturbs the pool" -DNO_TOMBSTONE "${delayed[@]}"

heading "known to exceed the ceiling, not covered by the protocol"
breaks sum "split brain" -DCAN_SPLIT -DCAN_JOIN
breaks sum "two clock steps within one lease" -DCAN_JOIN -DCAN_STEP -DCAN_PAUSE -DSTEPS=2 -DEVENTS=4

heading "the published consensus of Numaflow's document, to compare"
scenario over document "a paused member and its replacement: above the ceiling for ever" -DOVER_MAX=13
scenario zero document "killed members: the joiner gets nothing for ever" -DZERO_MAX=13 -DCAN_KILL -DEVENTS=3

heading "time goes on: no cycle without a tick"
scenario no-cycle ledger "join, kill, leave" -DCAN_JOIN -DCAN_KILL -DCAN_LEAVE
scenario no-cycle ledger "join, partition, flush" -DCAN_JOIN -DCAN_CUT -DCAN_FLUSH

if [ "$mode" = full ]; then
  heading "larger"
  holds "join, failovers to an older state, 3 events" -DCAN_JOIN -DCAN_FAILOVER
  holds "join, leave, one failover to a state before the leave" -DCAN_JOIN -DCAN_LEAVE -DCAN_FAILOVER -DLOSSES=1
  holds "join, kill, pause, partition, flush, 4 events" -DEVENTS=4 -DCAN_JOIN -DCAN_KILL -DCAN_PAUSE -DCAN_CUT -DCAN_FLUSH
  holds "four members, join, kill, pause, flush, lost entries" -DMEMBERS=4 -DCAN_JOIN -DCAN_KILL -DCAN_PAUSE -DCAN_FLUSH -DCAN_LOSE
  holds "delayed request, join, leave, lost entry, flush, 4 events" -DEVENTS=4 -DCAN_DELAY -DCAN_JOIN -DCAN_LEAVE -DCAN_LOSE -DCAN_FLUSH
  holds "delayed request, join, kill, pause" -DCAN_DELAY -DCAN_JOIN -DCAN_KILL -DCAN_PAUSE
  holds "two members, delayed request, pause, partition, clock step, 4 events" -DMEMBERS=2 -DEVENTS=4 -DCAN_DELAY -DCAN_PAUSE -DCAN_CUT -DCAN_STEP
fi

while [ "$running" -gt 0 ]; do
  wait -n || true
  running=$((running - 1))
done
for ((at = 1; at <= number; at++)); do cat "$work/$at.line"; done
if [ -e "$work/failed" ]; then
  echo "model: at least one scenario did not end as expected" >&2
  exit 1
fi
