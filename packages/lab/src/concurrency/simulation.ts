import { SeededRandom } from "@sluice/core";
import type { LimitAlgorithm, Random } from "@sluice/core";
import { EventLoop } from "../sim/event-loop.ts";
import type { Service } from "../sim/service.ts";
import { Client } from "./client.ts";
import type { AttemptEnd, RetryOptions } from "./client.ts";

export interface LoadOptions {
  /** Clients, each with a limiter of its own. */
  readonly clients: number;
  /** The second begins so long after the first, and so on. */
  readonly joinEveryS: number;
  /** A client has its request n at n times this; 0: it has them all at once. */
  readonly intervalMs: number;
  /** So many more requests at once, for every client. */
  readonly bursts?: readonly { readonly atS: number; readonly requests: number }[];
  /** The run ends with so many served, of all clients together. */
  readonly requests: number | undefined;
  /** The run ends at this time at the latest. */
  readonly durationS: number;
}

export interface SimulationOptions {
  readonly seed: number;
  readonly timerQuantumMs: number;
  readonly createService: (loop: EventLoop, random: Random) => Service;
  readonly createAlgorithm: (random: Random) => LimitAlgorithm;
  readonly load: LoadOptions;
  readonly retry: RetryOptions;
}

/** What happened in one slice of a run, over all clients. */
export interface Slice {
  readonly fromMs: number;
  ok: number;
  busy: number;
  failed: number;
  rttSumMs: number;
  /** At the end of the slice. */
  limit: number;
  inFlight: number;
}

/** Everything that a run measured. */
export interface SimulationResult {
  readonly elapsedMs: number;
  readonly clients: readonly Client[];
  readonly service: Service;
  readonly slices: readonly Slice[];
  /** Round trips of what was served, and when each ended. */
  readonly rttsMs: readonly number[];
  readonly endsMs: readonly number[];
  /** Index of the client that each was for. */
  readonly endedBy: readonly number[];
}

/** Slices are this long; a report may show several as one. */
export const SLICE_MS = 100;

/** More requests than any run can send: a backlog that never ends. */
const BACKLOG = Number.MAX_SAFE_INTEGER;

/** Runs clients against a service in virtual time. */
export function runConcurrency(options: SimulationOptions): SimulationResult {
  const { load } = options;
  const random = new SeededRandom(options.seed);
  const loop = new EventLoop({ timerQuantumMs: options.timerQuantumMs });
  const service = options.createService(loop, random);
  const slices: Slice[] = [];
  const rttsMs: number[] = [];
  const endsMs: number[] = [];
  const endedBy: number[] = [];
  let successes = 0;
  const onAttemptEnd = (end: AttemptEnd, rttMs: number, client: number): void => {
    const slice = sliceAt(slices, loop.now());
    slice[end]++;
    if (end !== "ok") return;
    successes++;
    slice.rttSumMs += rttMs;
    rttsMs.push(rttMs);
    endsMs.push(loop.now());
    endedBy.push(client);
  };
  const clients = Array.from({ length: load.clients }, (_, index) => {
    const observer = {
      onAttemptEnd: (end: AttemptEnd, rttMs: number): void => onAttemptEnd(end, rttMs, index),
    };
    const world = { loop, service, random, observer };
    return new Client(world, options.createAlgorithm(random), options.retry);
  });
  for (const [i, client] of clients.entries()) {
    loop.at(i * load.joinEveryS * 1000, () => supply(client, loop, load));
    for (const { atS, requests } of load.bursts ?? []) {
      loop.at(atS * 1000, () => client.offer(requests));
    }
  }
  const untilMs = load.durationS * 1000;
  loop.run(
    untilMs,
    () => {
      for (const client of clients) client.start();
      const slice = sliceAt(slices, loop.now());
      slice.limit = sum(clients, ({ limiter }) => limiter.limit);
      slice.inFlight = sum(clients, ({ limiter }) => limiter.inFlight);
    },
    () => load.requests !== undefined && successes >= load.requests,
  );
  // The slices in which nothing happened any more.
  sliceAt(slices, Math.max(0, Math.min(loop.now(), untilMs)));
  if (load.requests === undefined) sliceAt(slices, untilMs - 1);
  const isDone = load.requests !== undefined && successes >= load.requests;
  return {
    elapsedMs: isDone ? loop.now() : untilMs,
    clients,
    service,
    slices,
    rttsMs,
    endsMs,
    endedBy,
  };
}

function supply(client: Client, loop: EventLoop, { intervalMs, requests }: LoadOptions): void {
  if (intervalMs === 0) {
    client.offer(requests ?? BACKLOG);
    return;
  }
  const startMs = loop.now();
  let sent = 0;
  const tick = (): void => {
    client.offer(1);
    sent++;
    if (requests === undefined || sent < requests) loop.at(startMs + sent * intervalMs, tick);
  };
  tick();
}

function sliceAt(slices: Slice[], nowMs: number): Slice {
  const index = Math.floor(nowMs / SLICE_MS);
  while (slices.length <= index) {
    const last = slices.at(-1);
    const { limit = 0, inFlight = 0 } = last ?? {};
    const fromMs = slices.length * SLICE_MS;
    slices.push({ fromMs, ok: 0, busy: 0, failed: 0, rttSumMs: 0, limit, inFlight });
  }
  return slices[index] as Slice;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += of(item);
  return total;
}
