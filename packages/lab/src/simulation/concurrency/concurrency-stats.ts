import { jainIndex, sum } from "../fairness.ts";
import { TimeWeighted, TimeWeightedReal } from "../engine/time-weighted.ts";
import type { Distribution } from "../engine/time-weighted.ts";
import type { SimulationResult, Slice } from "./run-concurrency.ts";
import { SLICE_MS } from "./run-concurrency.ts";

/** Figures of a run. A distribution without values is null. */
export interface ConcurrencyStats {
  readonly elapsedS: number;
  readonly successes: number;
  readonly attempts: number;
  readonly goodputPerSecond: number;
  /** Of served attempts. */
  readonly rttMs: { readonly p50: number | null; readonly p99: number | null };
  readonly server: { readonly inFlight: Distribution | null; readonly rate: Distribution | null };
  readonly controller: {
    readonly inFlight: Distribution | null;
    readonly limit: Distribution | null;
    readonly observedRttMs: Distribution | null;
    readonly averagedRttMs: Distribution | null;
  };
  /** Jain's index over what each client was served: 1 is evenly. */
  readonly jain: number;
}

export function concurrencyStats(result: SimulationResult): ConcurrencyStats {
  const { clients, service, elapsedMs } = result;
  const served = clients.map(({ stats }) => stats.successes);
  const successes = sum(served);
  const [p50 = null, p99 = null] = result.roundTrips.quantiles([0.5, 0.99]);
  const inFlight = new TimeWeighted();
  const limit = new TimeWeighted();
  const observedRttMs = new TimeWeightedReal();
  const averagedRttMs = new TimeWeightedReal();
  for (const { stats } of clients) {
    inFlight.merge(stats.inFlight);
    limit.merge(stats.limit);
    observedRttMs.merge(stats.observedRttMs);
    averagedRttMs.merge(stats.averagedRttMs);
  }
  return {
    elapsedS: elapsedMs / 1000,
    successes,
    attempts: sum(clients.map(({ stats }) => stats.attempts)),
    goodputPerSecond: elapsedMs === 0 ? 0 : (successes * 1000) / elapsedMs,
    rttMs: { p50, p99 },
    server: {
      inFlight: service.seen.inFlight.distribution() ?? null,
      rate: service.seen.rate.distribution() ?? null,
    },
    controller: {
      inFlight: inFlight.distribution() ?? null,
      limit: limit.distribution() ?? null,
      observedRttMs: observedRttMs.distribution() ?? null,
      averagedRttMs: averagedRttMs.distribution() ?? null,
    },
    jain: jainIndex(served),
  };
}

/** One stretch of a run, over all clients. */
export interface ConcurrencyRow {
  readonly t: number;
  /** Seconds that the row covers; only in a last row that is shorter than the others. */
  readonly lengthS?: number;
  /** At the end of the stretch. */
  readonly limit: number;
  /** Mean over the stretch. */
  readonly inFlight: number;
  /** Mean over the attempts served; null if none was. */
  readonly rttMs: number | null;
  readonly goodputPerSecond: number;
  readonly busyPerSecond: number;
  readonly failedPerSecond: number;
}

/** Runs up to this long are shown by the tenth of a second, longer ones by the second. */
const FINE_MAX_MS = 30_000;

/** The last row may be shorter than the others; its rates are counts ÷ its own length. */
export function concurrencyRows({ slices, elapsedMs }: SimulationResult): ConcurrencyRow[] {
  const rowMs = elapsedMs <= FINE_MAX_MS ? SLICE_MS : 1000;
  const perRow = rowMs / SLICE_MS;
  // Events at the very end belong to the row that ends there; a row of their own would have no length.
  const count = Math.max(1, Math.ceil(elapsedMs / rowMs));
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    const part = slices.slice(index * perRow, isLast ? slices.length : (index + 1) * perRow);
    const fromMs = index * rowMs;
    return toRow(part, fromMs, { lengthMs: isLast ? elapsedMs - fromMs : rowMs, rowMs });
  });
}

function toRow(
  part: readonly Slice[],
  fromMs: number,
  { lengthMs, rowMs }: { readonly lengthMs: number; readonly rowMs: number },
): ConcurrencyRow {
  const last = part.at(-1);
  const ok = sum(part.map((slice) => slice.ok));
  const perSecond = (count: number): number =>
    lengthMs === 0 ? 0 : round((count * 1000) / lengthMs);
  return {
    t: fromMs / 1000,
    ...(lengthMs < rowMs && { lengthS: round(lengthMs / 1000) }),
    limit: last?.limit ?? 0,
    inFlight: lengthMs === 0 ? 0 : round(sum(part.map(({ inFlightMs }) => inFlightMs)) / lengthMs),
    rttMs: ok === 0 ? null : round(sum(part.map(({ rttSumMs }) => rttSumMs)) / ok),
    goodputPerSecond: perSecond(ok),
    busyPerSecond: perSecond(sum(part.map(({ busy }) => busy))),
    failedPerSecond: perSecond(sum(part.map(({ failed }) => failed))),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
