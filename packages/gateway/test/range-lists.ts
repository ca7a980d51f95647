import type { RangeRun } from "../src/storage/cursor/cursor-snapshot.ts";
import type { PositionRange } from "../src/subscription/cursor/position-ranges.ts";

/** Ranges one by one as runs, each of one ledger. */
export function runsOf(ranges: readonly PositionRange[]): RangeRun[] {
  const ledgerIds = [...new Set(ranges.map(({ ledgerId }) => ledgerId))];
  return ledgerIds.map((ledgerId) => {
    const own = ranges.filter((range) => range.ledgerId === ledgerId);
    const from = Float64Array.from(own, (range) => range.from);
    return { ledgerId, from, to: Float64Array.from(own, (range) => range.to) };
  });
}

/** The ranges of runs one by one. */
export function rangesOf(runs: readonly RangeRun[]): PositionRange[] {
  return runs.flatMap(({ ledgerId, from, to }) =>
    Array.from(from, (start, index) => ({ ledgerId, from: start, to: to[index] ?? start })),
  );
}
