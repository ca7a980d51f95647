import type { CapacityPhase, OverloadSecond } from "./run-overload.ts";

/** What a phase of one capacity came to, from its first second to its last. */
export interface PhaseStats {
  readonly fromS: number;
  /** Taken ÷ what could be: the smaller of offered and capacity. Null if that is nothing. */
  readonly goodputRatio: number | null;
  readonly busyPerSecond: number;
  /**
   * Seconds until as much is taken as could be, but 1 % or one request, and stays so to the end;
   * null if it never does.
   */
  readonly recoveredAfterS: number | null;
  /** How evenly the clients were served: 1 is evenly, 1 ÷ their number is one for all. */
  readonly jain: number;
}

const RECOVERED_SHARE = 0.99;

export function phaseStats(
  seconds: readonly OverloadSecond[],
  capacity: readonly CapacityPhase[],
): PhaseStats[] {
  return capacity.map(({ fromS, perSecond }, index) => {
    const untilS = capacity[index + 1]?.fromS ?? seconds.length;
    return statsOf(seconds.slice(fromS, untilS), fromS, perSecond);
  });
}

function statsOf(seconds: readonly OverloadSecond[], fromS: number, perSecond: number): PhaseStats {
  const ok = sum(seconds.map((second) => second.ok));
  const offered = sum(seconds.map((second) => second.offered));
  const possible = Math.min(offered, perSecond * seconds.length);
  const isShort = (second: OverloadSecond): boolean => {
    const most = Math.min(second.offered, perSecond);
    return second.ok < Math.min(RECOVERED_SHARE * most, most - 1);
  };
  const recoveredAfterS = seconds.findLastIndex(isShort) + 1;
  return {
    fromS,
    goodputRatio: possible === 0 ? null : ok / possible,
    busyPerSecond: sum(seconds.map(({ busy }) => busy)) / seconds.length,
    recoveredAfterS: possible === 0 || recoveredAfterS === seconds.length ? null : recoveredAfterS,
    jain: jainOf(seconds),
  };
}

/** Jain's index of fairness. */
function jainOf(seconds: readonly OverloadSecond[]): number {
  const totals = (seconds[0]?.okByClient ?? []).map((_, client) =>
    sum(seconds.map(({ okByClient }) => okByClient[client] as number)),
  );
  const squares = sum(totals.map((total) => total * total));
  return squares === 0 ? 1 : sum(totals) ** 2 / (totals.length * squares);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
