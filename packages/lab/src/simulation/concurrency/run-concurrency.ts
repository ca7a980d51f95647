import { SeededRandom } from "@sluice/core";
import type { LimitAlgorithm, Random } from "@sluice/core";
import { EventLoop } from "../engine/event-loop.ts";
import type { Service } from "../services/service.ts";
import { Client } from "./client.ts";
import type { AttemptEnd, RetryOptions } from "./client.ts";
import { ClientGroup } from "./client-group.ts";
import { EXACT_MAX, Quantiles } from "../engine/quantiles.ts";

export interface LoadOptions {
  /** Number of clients. Each has its own limiter. */
  readonly clients: number;
  /** Seconds between the start of one client and the next. */
  readonly joinEveryS: number;
  /** Request n of a client arrives at n × this; 0: all are there at once. */
  readonly intervalMs: number;
  /** Further requests for every client at these times. Default: none. */
  readonly bursts?: readonly { readonly atS: number; readonly requests: number }[];
  /** The run ends once this many are served, over all clients. Undefined: no bound. */
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

/** Counts of one slice of a run, over all clients. */
export interface Slice {
  readonly fromMs: number;
  ok: number;
  busy: number;
  failed: number;
  rttSumMs: number;
  /** At the end of the slice. */
  limit: number;
  /** Attempts in flight × milliseconds. */
  inFlightMs: number;
}

/** Everything that a run measured. */
export interface SimulationResult {
  readonly elapsedMs: number;
  readonly clients: readonly Client[];
  readonly service: Service;
  readonly slices: readonly Slice[];
  /** Round trips of all served attempts. */
  readonly roundTrips: Quantiles;
  /** The first million served attempts: round trip, end, and index of the client. */
  readonly rttsMs: readonly number[];
  readonly endsMs: readonly number[];
  readonly endedBy: readonly number[];
}

/** Length of a slice. A report may join several into a row. */
export const SLICE_MS = 100;

/** More requests than any run can send. */
const BACKLOG = Number.MAX_SAFE_INTEGER;

/**
 * Runs clients against a service in virtual time.
 *
 * @example
 * const { roundTrips, elapsedMs } = runConcurrency({
 *   seed: 1,
 *   timerQuantumMs: 0,
 *   createService: (loop, random) => new QueueingService(loop, random, service),
 *   createAlgorithm: (random) => new SluiceLimit({ random, initialLimit: 1, maxLimit: 200 }),
 *   load: { clients: 1, joinEveryS: 0, intervalMs: 0, requests: 10_000, durationS: 600 },
 *   retry: { layering: "per-attempt", timeoutMs: 1000, backoffMs: [1000], backoffJitter: "full" },
 * });
 * const goodputPerSecond = (1000 * roundTrips.count) / elapsedMs;
 */
export function runConcurrency(options: SimulationOptions): SimulationResult {
  const { load } = options;
  const random = new SeededRandom(options.seed);
  const untilMs = load.durationS * 1000;
  const loop = new EventLoop({ timerQuantumMs: options.timerQuantumMs, endMs: untilMs });
  const service = options.createService(loop, random);
  const slices: Slice[] = [];
  const roundTrips = new Quantiles();
  const rttsMs: number[] = [];
  const endsMs: number[] = [];
  const endedBy: number[] = [];
  const onAttemptEnd = (end: AttemptEnd, rttMs: number, client: number): void => {
    const slice = sliceAt(slices, loop.now());
    slice[end]++;
    if (end !== "ok") return;
    slice.rttSumMs += rttMs;
    roundTrips.add(rttMs);
    if (rttsMs.length >= EXACT_MAX) return;
    rttsMs.push(rttMs);
    endsMs.push(loop.now());
    endedBy.push(client);
  };
  const group = new ClientGroup();
  for (let index = 0; index < load.clients; index++) {
    const observer = {
      onAttemptEnd: (end: AttemptEnd, rttMs: number): void => onAttemptEnd(end, rttMs, index),
      onChange: (): void => group.onChange(index),
    };
    const world = { loop, service, random, observer };
    group.add(new Client(world, options.createAlgorithm(random), options.retry));
  }
  const { clients } = group;
  for (const [i, client] of clients.entries()) {
    loop.at(i * load.joinEveryS * 1000, () => supply(client, loop, load));
    for (const { atS, requests } of load.bursts ?? []) {
      loop.at(atS * 1000, () => client.offer(requests));
    }
  }

  const isDone = (): boolean => load.requests !== undefined && roundTrips.count >= load.requests;
  let [inFlight, sinceMs] = [0, 0];
  const addInFlight = (toMs: number): void => {
    while (sinceMs < toMs) {
      const slice = sliceAt(slices, sinceMs);
      const endMs = Math.min(toMs, slice.fromMs + SLICE_MS);
      slice.inFlightMs += inFlight * (endMs - sinceMs);
      sinceMs = endMs;
    }
  };
  const onInstant = (): void => {
    addInFlight(loop.now());
    group.start();
    sliceAt(slices, loop.now()).limit = group.limit;
    ({ inFlight } = group);
  };
  loop.run(untilMs, onInstant, isDone);
  // The last slices, in which nothing happens.
  if (!isDone()) sliceAt(slices, (Math.ceil(untilMs / SLICE_MS) - 1) * SLICE_MS);
  const elapsedMs = isDone() ? loop.now() : untilMs;
  addInFlight(elapsedMs);
  return {
    elapsedMs,
    clients,
    service,
    slices,
    roundTrips,
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
    const limit = slices.at(-1)?.limit ?? 0;
    const fromMs = slices.length * SLICE_MS;
    slices.push({ fromMs, ok: 0, busy: 0, failed: 0, rttSumMs: 0, limit, inFlightMs: 0 });
  }
  return slices[index] as Slice;
}
