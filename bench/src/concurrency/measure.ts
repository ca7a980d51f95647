import type { LimitAlgorithm, Random } from "@sluice/core";
import { runConcurrency } from "@sluice/lab/sim";
import type { RetryOptions, SimulationResult } from "@sluice/lab/sim";
import type { Workload } from "./workloads.ts";

/** What one limiter came to on one workload and one seed. */
export interface Measures {
  /** With the cold start. */
  readonly goodputPerSecond: number;
  /** 99 % of the attempts served after the warm-up were at most this long; undefined if none was. */
  readonly p99Ms: number | undefined;
  readonly attempts: number;
  readonly successes: number;
  /** Jain's index of the clients' goodput after the warm-up: 1 is equal, 0 if there was none. */
  readonly jain: number;
  /** Served in each tenth of a second. */
  readonly okPerSlice: readonly number[];
}

export interface Contender {
  readonly name: string;
  readonly layering: RetryOptions["layering"];
  readonly create: (random: Random) => LimitAlgorithm;
}

export const SLICES_PER_SECOND = 10;

const FIBONACCI_MS = [1000, 2000, 3000, 5000, 8000, 13_000, 21_000, 30_000];

/** Runs one limiter; all clients of the workload have one of its kind each. */
export function measure(workload: Workload, contender: Contender, seed: number): Measures {
  const result = runConcurrency({
    seed,
    timerQuantumMs: 0,
    createService: workload.createService,
    createAlgorithm: contender.create,
    load: {
      clients: workload.clients,
      joinEveryS: workload.joinEveryS,
      intervalMs: 0,
      requests: undefined,
      durationS: workload.durationS,
    },
    retry: {
      layering: contender.layering,
      timeoutMs: 1000,
      backoffMs: FIBONACCI_MS,
      backoffJitter: "full",
    },
  });
  return toMeasures(result, workload.warmUpS * 1000);
}

function toMeasures(result: SimulationResult, warmUpMs: number): Measures {
  const { clients, slices, rttsMs, endsMs, endedBy, elapsedMs, roundTrips } = result;
  const shares = clients.map(() => 0);
  const warmRttsMs: number[] = [];
  for (const [i, rttMs] of rttsMs.entries()) {
    if ((endsMs[i] as number) < warmUpMs) continue;
    const client = endedBy[i] as number;
    shares[client] = (shares[client] as number) + 1;
    warmRttsMs.push(rttMs);
  }
  warmRttsMs.sort((a, b) => a - b);
  return {
    goodputPerSecond: (roundTrips.count * 1000) / elapsedMs,
    p99Ms: warmRttsMs[Math.floor(0.99 * warmRttsMs.length)],
    attempts: clients.reduce((total, { stats }) => total + stats.attempts, 0),
    successes: roundTrips.count,
    jain: jainOf(shares),
    okPerSlice: slices.map(({ ok }) => ok),
  };
}

function jainOf(shares: readonly number[]): number {
  const total = shares.reduce((sum, share) => sum + share, 0);
  if (total === 0) return 0;
  return total ** 2 / (shares.length * shares.reduce((sum, share) => sum + share ** 2, 0));
}
