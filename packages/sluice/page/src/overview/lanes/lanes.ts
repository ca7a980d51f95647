import type { Reason } from "@sluice/core";
import type { LiveProducer, LiveSample, LiveVertex } from "../../../../src/live/live-message.ts";

/** Lanes of the timeline; those that waited least are left out. */
const LANES_MAX = 8;
/** Two samples that are further apart do not belong to one band, ms: the process was stopped, or busy for long. */
const GAP_MS = 5_000;

/** Somebody that waited at one instant: why, and which part of its demand, 0 to 1. */
interface Waited {
  readonly atMs: number;
  readonly reason: Reason;
  readonly part: number;
}

/** A time without a break in which one waiter waited for one reason. */
export interface Band {
  readonly reason: Reason;
  readonly points: readonly { readonly atMs: number; readonly part: number }[];
}

export interface Lane {
  readonly name: string;
  readonly bands: readonly Band[];
  readonly isWaitingNow: boolean;
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  readonly leftOut: number;
}

/** Who waited and why, from the samples: the producers first, then the vertices along the path. */
export function lanesOf(samples: readonly LiveSample[]): Lanes {
  const bands = new Map<string, { reason: Reason; points: Waited[] }[]>();
  const order = new Map<string, number>();
  let beforeMs = -Infinity;
  for (const sample of samples) {
    for (const [name, waited, rank] of waitersOf(sample)) {
      const known = bands.get(name) ?? [];
      if (known.length === 0) bands.set(name, known);
      order.set(name, rank);
      const last = known.at(-1);
      const end = last?.points.at(-1)?.atMs ?? -Infinity;
      if (
        last !== undefined &&
        last.reason === waited.reason &&
        end === beforeMs &&
        sample.atMs - end <= GAP_MS
      )
        last.points.push(waited);
      else known.push({ reason: waited.reason, points: [waited] });
    }
    beforeMs = sample.atMs;
  }
  const newest = samples.at(-1)?.atMs;
  const lanes: readonly Lane[] = [...bands].map(([name, list]) => ({
    name,
    bands: list,
    isWaitingNow: list.at(-1)?.points.at(-1)?.atMs === newest,
  }));
  const weights = new Map(lanes.map((lane) => [lane, weight(lane)]));
  const heavier = (a: Lane, b: Lane): number => (weights.get(b) ?? 0) - (weights.get(a) ?? 0);
  const shown = new Set(lanes.toSorted(heavier).slice(0, LANES_MAX));
  return {
    lanes: lanes
      .filter((lane) => shown.has(lane))
      .toSorted((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0) || heavier(a, b)),
    leftOut: lanes.length - shown.size,
  };
}

function weight({ bands }: Lane): number {
  return bands.reduce(
    (sum, { points }) => sum + points.reduce((all, { part }) => all + 0.2 + part, 0),
    0,
  );
}

type Entry = readonly [name: string, waited: Waited, rank: number];

const waiters = new WeakMap<LiveSample, readonly Entry[]>();

/** A sample never changes, so that it is looked through once, not with each of the 600 that follow it. */
function waitersOf(sample: LiveSample): readonly Entry[] {
  const found = waiters.get(sample) ?? readWaiters(sample);
  waiters.set(sample, found);
  return found;
}

function readWaiters({ atMs, gateway, pipelines }: LiveSample): readonly Entry[] {
  const producers = (gateway?.producers ?? []).flatMap((one): readonly Entry[] =>
    one.reason === undefined
      ? []
      : [[one.name, { atMs, reason: one.reason, part: partOf(one) }, 0]],
  );
  const isOne = pipelines.length === 1;
  const vertices = pipelines.flatMap(({ name, vertices: all }) =>
    all.flatMap((one, index): readonly Entry[] => {
      if (one.reason === undefined || one.behind !== undefined) return [];
      const lane = one.gate === undefined ? one.name : `${one.name} → ${one.gate.service}`;
      const waited = { atMs, reason: one.reason, part: queuedPart(one) };
      return [[isOne ? lane : `${name}/${lane}`, waited, 1 + index]];
    }),
  );
  return [...producers, ...vertices];
}

/** The part of what a producer asks for that it does not get. */
function partOf({ asked, rate, heldFrames }: LiveProducer): number {
  if (asked !== undefined && asked > 0) return Math.min(1, Math.max(0, 1 - rate / asked));
  return heldFrames > 0 ? 0.5 : 0.2;
}

/**
 * How full the buffer of a vertex is, or the part of its gate's requests that is not sent yet, whichever is larger: a sink
 * waits for its share before its gate has any request. The backlog of a source has no bound; it is compared with what the
 * source reads in a minute.
 */
export function queuedPart({ queue, queueMax, gate, rate }: LiveVertex): number {
  if (queue === undefined && gate === undefined) return 0.3;
  const { waiting = 0, inFlight = 0 } = gate ?? {};
  const atGate = waiting / Math.max(1, waiting + inFlight);
  if (queue === undefined) return atGate;
  const most = queueMax ?? queue + Math.max(1, rate) * 60;
  return Math.max(atGate, Math.min(1, queue / most));
}
