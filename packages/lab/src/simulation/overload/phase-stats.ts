import { jainIndex, sum } from "../fairness.ts";
import type { CapacityPhase, OverloadSecond } from "./run-overload.ts";

/** Figures of a phase of one capacity, from its first second to its last. */
export interface PhaseStats {
  readonly fromS: number;
  /**
   * Taken ÷ the smaller of offered and capacity, over the whole phase; if the traffic varies, second by second.
   * Null if that is 0.
   */
  readonly goodputRatio: number | null;
  readonly busyPerSecond: number;
  /**
   * Seconds from the start of the phase after which every second to its end takes at least 99 % of
   * the smaller of offered and capacity, or all but one request; null if the last second does not.
   */
  readonly recoveredAfterS: number | null;
  /** Jain's index over what each client was served: 1 is evenly. */
  readonly jain: number;
}

/** Part of the possible from which a second counts as recovered. */
export const RECOVERED_SHARE = 0.99;

export function phaseStats(
  seconds: readonly OverloadSecond[],
  capacity: readonly CapacityPhase[],
  isSteady: boolean = true,
): PhaseStats[] {
  return capacity.map(({ fromS, perSecond }, index) => {
    const untilS = capacity[index + 1]?.fromS ?? seconds.length;
    const own = seconds.slice(fromS, untilS);
    const offered = sum(own.map((second) => second.offered));
    const possible = isSteady
      ? Math.min(offered, perSecond * own.length)
      : sum(own.map((second) => Math.min(second.offered, perSecond)));
    return statsOf(own, { fromS, perSecond }, possible);
  });
}

function statsOf(
  seconds: readonly OverloadSecond[],
  { fromS, perSecond }: CapacityPhase,
  possible: number,
): PhaseStats {
  const ok = sum(seconds.map((second) => second.ok));
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
    jain: jainIndex(okByClient(seconds)),
  };
}

function okByClient(seconds: readonly OverloadSecond[]): number[] {
  return (seconds[0]?.okByClient ?? []).map((_, client) =>
    sum(seconds.map((second) => second.okByClient[client] as number)),
  );
}
