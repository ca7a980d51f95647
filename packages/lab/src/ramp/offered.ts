import { LockstepPool } from "./lockstep-pool.ts";
import type { LockstepOptions, LockstepRow } from "./lockstep-pool.ts";

/** One second of a pool that reads one queue. */
export interface OfferedRow extends LockstepRow {
  /** Messages that came in this second. */
  readonly offered: number;
  /** Messages that wait at its end. */
  readonly waiting: number;
}

/** What a run comes to. Null: that never was. */
export interface OfferedStats {
  /** Messages that were let through. */
  readonly used: number;
  /** Messages that still wait at the end of the run. */
  readonly left: number;
  readonly mostWaiting: number;
  /** From arrival to grant, first in first out; a message that still waits counts until the end of the run. */
  readonly longestWaitS: number;
  /** The same for messages that came after the first second without any. */
  readonly longestWaitAfterGapS: number | null;
  /** Mean of what was used in the first second after a gap. */
  readonly firstAfterGap: number | null;
  /** When the ceiling was first `max`, counted from the first call. */
  readonly reachedMaxAfterS: number | null;
  /** Granted and given back ÷ granted. */
  readonly unusedRatio: number;
}

/**
 * What comes in second by second, and waits in one queue until the pool has tokens for it. In a second in
 * which nothing comes and nothing waits, no member asks: for the ramp that is a gap.
 */
export function runOffered(options: LockstepOptions, offered: readonly number[]): OfferedRow[] {
  const pool = new LockstepPool(options);
  let waiting = 0;
  return offered.map((count, t) => {
    const wanted = waiting + count;
    const row = pool.call(wanted === 0 ? { t } : { t, useTogether: wanted });
    waiting = wanted - row.used;
    return { ...row, offered: count, waiting };
  });
}

export function offeredStats(rows: readonly OfferedRow[], max: number): OfferedStats {
  const first = rows.findIndex(isCalled);
  const gapFrom = first === -1 ? -1 : rows.findIndex((row, t) => t > first && !isCalled(row));
  const starts = rows.filter(
    (row, t) => t > first && isCalled(row) && !isCalled(rows[t - 1] as OfferedRow),
  );
  const waitsS = waitsOf(rows);
  const reached = rows.findIndex((row, t) => t >= first && row.ceiling >= max);
  const granted = total(rows, (row) => row.granted.reduce((sum, count) => sum + count, 0));
  const used = total(rows, (row) => row.used);
  return {
    used,
    left: rows.at(-1)?.waiting ?? 0,
    mostWaiting: rows.reduce((most, { waiting }) => Math.max(most, waiting), 0),
    longestWaitS: largest(waitsS),
    longestWaitAfterGapS: starts.length === 0 ? null : largest(waitsS.slice(gapFrom)),
    firstAfterGap:
      starts.length === 0 ? null : rounded(total(starts, (row) => row.used) / starts.length),
    reachedMaxAfterS: first === -1 || reached === -1 ? null : reached - first,
    unusedRatio: granted === 0 ? 0 : rounded((granted - used) / granted),
  };
}

function isCalled({ used, waiting }: OfferedRow): boolean {
  return used + waiting > 0;
}

/** For each second, how long the last message that came in it waited. Within a second, all is spread evenly. */
function waitsOf(rows: readonly OfferedRow[]): number[] {
  let arrived = 0;
  let served = 0;
  let second = 0;
  return rows.map(({ offered }, t) => {
    if (offered === 0) return 0;
    arrived += offered;
    while (second < rows.length && served + (rows[second] as OfferedRow).used < arrived)
      served += (rows[second++] as OfferedRow).used;
    const row = rows[second];
    const servedAtS = row === undefined ? rows.length : second + (arrived - served) / row.used;
    return rounded(Math.max(0, servedAtS - (t + 1)));
  });
}

function total<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}

function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** To three digits after the point: sums of doubles differ in their last digits. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
