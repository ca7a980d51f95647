#!/usr/bin/env bash
# Checks consensus.pml exhaustively, scenario by scenario, and prints one line for each. Fails if the
# rules that this project uses (VAR 5) ever let the shares add up to more than the limit where the
# README says that they do not, or do not settle again.
#
# Needs spin and a C compiler; without them it says so and does nothing. Usage: model/run.sh [ours|all]
#   ours  the variant that the code follows: some minutes   all  the published ones beside it
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
which=${1:-ours}
for tool in spin gcc; do
  if ! command -v "$tool" >/dev/null; then
    echo "model: $tool is not installed; nothing was checked"
    exit 0
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check VARIANT LARGEST LABEL SWITCH...: LARGEST is the most that the sum of shares may be, of 12, or - for any.
check() {
  local variant=$1 largest=$2 label=$3 sum over settle low states
  shift 3
  cp "$here/consensus.pml" "$work/"
  (
    cd "$work"
    spin -a -DVAR="$variant" "$@" consensus.pml >spin.out 2>&1 || { cat spin.out; exit 1; }
    gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=5000 -o pan pan.c
    timeout "${LIMIT_S:-600}" ./pan -m400000 -w25 -n >pan.out 2>&1 || true
  )
  last() { grep -E "$1" "$work/pan.out" | tail -1 | grep -oE '[0-9]+' | head -1 || true; }
  sum=$(last '^MAX sum'); over=$(last '^MAX ticks over'); settle=$(last '^MAX quiet'); low=$(last '^MIN settled')
  states=$(grep -E 'states, stored' "$work/pan.out" | tail -1 | awk '{print $1}')
  printf 'VAR%s | %-36s | sum %2s of 12 | over for %2s ticks | settles within %2s | settled sum %2s | %s states\n' \
    "$variant" "$label" "${sum:-?}" "${over:-0}" "${settle:-0}" "${low:--}" "${states:-not finished:}"
  if grep -qE 'max search depth too small|reached -DMEMLIM|out of memory' "$work/pan.out" || [ -z "$states" ]; then
    echo "  not exhaustive"
    [ "$largest" = - ] || failed=1
  fi
  if [ "$largest" != - ] && [ "${sum:-99}" -gt "$largest" ]; then
    echo "  expected at most $largest"
    failed=1
  fi
  if [ "$variant" = 5 ] && [ "${low:-12}" != 12 ]; then
    echo "  expected to settle on all of it"
    failed=1
  fi
}

# Three processes, two of them agreed at the start, three events, stale age and lease of three ticks.
three=(-DN=3 -DINIT=2 -DEVENTS=3 -DX=3 -DH=1 -DF_JOIN)
check 5 12 "join, leave, kill, partition" "${three[@]}" -DF_LEAVE -DF_KILL -DF_CUT
check 5 12 "join, pause" "${three[@]}" -DF_PAUSE
check 5 12 "join, pause, flush" "${three[@]}" -DF_PAUSE -DF_FLUSH
check 5 12 "join, two flushes" "${three[@]}" -DF_FLUSH -DLOSSES=2
check 5 12 "join, one lost registration" "${three[@]}" -DF_LOSE
check 5 18 "join, two lost registrations" "${three[@]}" -DF_LOSE -DLOSSES=2
check 5 12 "two processes, flush, partition" -DN=2 -DINIT=2 -DEVENTS=4 -DX=3 -DH=1 -DF_FLUSH -DF_CUT
if [ "$which" = all ]; then
  for variant in 0 1 2 3 4; do
    check "$variant" - "join" "${three[@]}"
    check "$variant" - "join, leave" "${three[@]}" -DF_LEAVE
    check "$variant" - "join, kill" "${three[@]}" -DF_KILL
    check "$variant" - "join, pause" "${three[@]}" -DEVENTS=2 -DF_PAUSE
    check "$variant" - "join, partition" "${three[@]}" -DEVENTS=2 -DF_CUT
    check "$variant" - "join, flush" "${three[@]}" -DF_FLUSH
    check "$variant" - "join, one lost registration" "${three[@]}" -DF_LOSE
  done
  check 4 - "a hold-down that goes on over a gap" -DN=2 -DINIT=2 -DEVENTS=4 -DX=3 -DH=1 -DF_FLUSH -DF_CUT -DNOGAP
fi
exit "$failed"
