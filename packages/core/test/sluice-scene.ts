import { SeededRandom } from "../src/random.ts";
import { SluiceLimit } from "../src/concurrency/sluice/sluice-limit.ts";
import type { SluiceLimitOptions } from "../src/concurrency/sluice/sluice-limit.ts";
import { ClosedLoop } from "./closed-loop.ts";
import type { Answer, Peer } from "./closed-loop.ts";

export const RTT_MS = 100;

/** A peer that serves anything after `rttMs`, and up to `jitter` of it more in the mean. */
export function healthy(random: SeededRandom, jitter = 0.05, rttMs = RTT_MS): () => Answer {
  return () => ({ afterMs: rttMs * (1 - jitter * Math.log(1 - random.next())), outcome: "ok" });
}

/** A limit, a peer that serves anything, and a client that sends all it may. */
export function setUpSluice(
  options: Partial<Omit<SluiceLimitOptions, "random">> & { readonly seed?: number } = {},
) {
  const { seed = 1, ...bounds } = options;
  const random = new SeededRandom(seed);
  const limit = new SluiceLimit({ random: new SeededRandom(seed), ...bounds });
  const serve = healthy(random);
  const loop = new ClosedLoop(limit, serve);
  return { limit, loop, random, serve };
}

/** Service times of 50 ms in the mean that vary widely. */
export function varied(random: SeededRandom): () => number {
  return () => -50 * Math.log(1 - random.next());
}

/** A peer of `count` workers with one queue. */
export function workers(count: number, random: SeededRandom, timeMs = varied(random)): Peer {
  const freeAtMs = Array.from({ length: count }, () => 0);
  return (nowMs) => {
    const at = freeAtMs.indexOf(Math.min(...freeAtMs));
    const startMs = Math.max(nowMs, freeAtMs[at] ?? 0);
    freeAtMs[at] = startMs + timeMs();
    return { afterMs: (freeAtMs[at] ?? 0) - nowMs, outcome: "ok" };
  };
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Starts a second from one instant to another. */
export function startsPerSecond({ starts }: ClosedLoop, fromMs: number, untilMs: number): number {
  const count = starts.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs).length;
  return (count * 1000) / (untilMs - fromMs);
}

/** Mean weight in flight at the starts from an instant on. */
export function meanInFlight({ starts }: ClosedLoop, fromMs: number): number {
  const later = starts.filter(({ atMs }) => atMs >= fromMs);
  return later.reduce((sum, { inFlight }) => sum + inFlight, 0) / later.length;
}
