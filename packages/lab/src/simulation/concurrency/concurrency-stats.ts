import { TimeWeighted, TimeWeightedReal } from "../engine/time-weighted.ts";
import type { Distribution } from "../engine/time-weighted.ts";
import type { SimulationResult, Slice } from "./run-concurrency.ts";
import { SLICE_MS } from "./run-concurrency.ts";

/** What a run came to. A distribution of nothing is null. */
export interface ConcurrencyStats {
  readonly elapsedS: number;
  readonly successes: number;
  readonly attempts: number;
  readonly goodputPerSecond: number;
  /** Of attempts that were served. */
  readonly rttMs: { readonly p50: number | null; readonly p99: number | null };
  readonly server: { readonly inFlight: Distribution | null; readonly rate: Distribution | null };
  readonly controller: {
    readonly inFlight: Distribution | null;
    readonly limit: Distribution | null;
    readonly observedRttMs: Distribution | null;
    readonly averagedRttMs: Distribution | null;
  };
  /** How evenly the clients were served: 1 is evenly. */
  readonly jain: number;
}

export function concurrencyStats(result: SimulationResult): ConcurrencyStats {
  const { clients, service, elapsedMs } = result;
  const served = clients.map(({ stats }) => stats.successes);
  const successes = sum(served);
  const squares = sum(served.map((count) => count * count));
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
    jain: squares === 0 ? 1 : successes ** 2 / (served.length * squares),
  };
}

/** One stretch of a run, over all clients. */
export interface ConcurrencyRow {
  readonly t: number;
  /** At the end of the stretch. */
  readonly limit: number;
  readonly inFlight: number;
  /** Mean of what was served; null if nothing was. */
  readonly rttMs: number | null;
  readonly goodputPerSecond: number;
  readonly busyPerSecond: number;
  readonly failedPerSecond: number;
}

/** Runs up to this long are shown by the tenth of a second, longer ones by the second. */
const FINE_MAX_MS = 30_000;

/** The last row may be shorter than the others; its rates are those of a whole one. */
export function concurrencyRows({ slices, elapsedMs }: SimulationResult): ConcurrencyRow[] {
  const perRow = elapsedMs <= FINE_MAX_MS ? 1 : 1000 / SLICE_MS;
  const rows: ConcurrencyRow[] = [];
  for (let from = 0; from < slices.length; from += perRow) {
    rows.push(toRow(slices.slice(from, from + perRow), from * SLICE_MS, perRow * SLICE_MS));
  }
  return rows;
}

function toRow(part: readonly Slice[], fromMs: number, lengthMs: number): ConcurrencyRow {
  const last = part.at(-1);
  const ok = sum(part.map((slice) => slice.ok));
  const perSecond = (count: number): number => round((count * 1000) / lengthMs);
  return {
    t: fromMs / 1000,
    limit: last?.limit ?? 0,
    inFlight: last?.inFlight ?? 0,
    rttMs: ok === 0 ? null : round(sum(part.map(({ rttSumMs }) => rttSumMs)) / ok),
    goodputPerSecond: perSecond(ok),
    busyPerSecond: perSecond(sum(part.map(({ busy }) => busy))),
    failedPerSecond: perSecond(sum(part.map(({ failed }) => failed))),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
