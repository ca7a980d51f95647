import { SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { DEFAULT_TIMING } from "@sluice/fleet/sim";
import type { Timing } from "@sluice/fleet/sim";
import type { PoolAction, PoolEvent, PoolRules } from "@sluice/lab/sim";

/** All that a run depends on. */
export interface Plan {
  readonly seed: number;
  readonly rules: Omit<PoolRules, "lagMs">;
  /** In order of time. What cannot happen to whom it names does not. */
  readonly events: readonly PoolEvent[];
  readonly weather: Weather;
}

/** How bad the way to the store is, and how late processes are, until all faults are over. */
interface Weather {
  readonly lossRatio: number;
  /** The part of all messages that take up to `slowMs`. */
  readonly slowRatio: number;
  readonly slowMs: number;
  readonly isOrdered: boolean;
  /** The part of all wakings that come up to `lateMs` late. */
  readonly lateRatio: number;
  readonly lateMs: number;
}

const TIMINGS: readonly Timing[] = [
  { syncIntervalMs: 100, leaseMs: 600, staleMs: 750, timeoutMs: 50 },
  { syncIntervalMs: 100, leaseMs: 600, staleMs: 750, timeoutMs: 50 },
  { syncIntervalMs: 100, leaseMs: 900, staleMs: 1500, timeoutMs: 100 },
  { syncIntervalMs: 200, leaseMs: 1000, staleMs: 1250, timeoutMs: 25 },
  DEFAULT_TIMING,
];

const CEILINGS = [1, 3, 7, 24, 60, 60, 120, 240];
const EVENTS_MAX = 10;
const IDS_MAX = 8;

/** A pool, its faults and its traffic, drawn from a seed. */
export function drawPlan(seed: number): Plan {
  const draw = new Draw(new SeededRandom(Math.imul(seed, 0x2545f491)));
  const timing = draw.of(TIMINGS);
  const ceiling = draw.of(CEILINGS);
  return {
    seed,
    rules: {
      pool: "pool",
      rateLimit: { max: ceiling, min: ceiling, rampUpMs: 1000, mode: { kind: "relaxed" } },
      membership: {
        timing,
        maxMembers: draw.of([16, 64]),
        onStoreLoss: draw.of(["safe-share", "safe-share", "closed", "open"]),
        joinOn: draw.of(["agreement", "agreement", "agreement", "safe-share"]),
        share: draw.of(["equal", "equal", "equal", "demand"]),
      },
      pacing: draw.of(["smooth", "smooth", "smooth", "smooth", "smooth", "epoch"]),
      division: "rotate",
    },
    events: drawEvents(draw, timing, ceiling),
    weather: {
      lossRatio: draw.of([0, 0, 0.02, 0.1, 0.3]),
      slowRatio: draw.of([0, 0.05, 0.3]),
      slowMs: draw.of([0.5, 1, 3]) * timing.timeoutMs,
      isOrdered: draw.of([true, true, false]),
      lateRatio: draw.of([0, 0.02, 0.1]),
      lateMs: draw.of([1, 3]) * timing.syncIntervalMs,
    },
  };
}

function drawEvents(draw: Draw, timing: Timing, ceiling: number): PoolEvent[] {
  const { leaseMs, staleMs, syncIntervalMs } = timing;
  const events: PoolEvent[] = [];
  const members = 1 + draw.below(IDS_MAX);
  for (let i = 0; i < members; i++) {
    const atMs = draw.of([0, draw.upTo(leaseMs)]);
    events.push({ atMs, action: drawJoin(draw, `m${i}`, ceiling) });
  }
  const fromMs = draw.of([0, 3 * leaseMs]);
  const count = draw.below(EVENTS_MAX + 1);
  let lossAtMs = Number.NEGATIVE_INFINITY;
  let flushAtMs = Number.NEGATIVE_INFINITY;
  let atMs = fromMs;
  for (let i = 0; i < count; i++) {
    // Now and then several things at once.
    atMs += draw.of([0, draw.upTo(syncIntervalMs), draw.upTo(leaseMs), draw.upTo(1.5 * staleMs)]);
    const action = drawAction(draw, timing, ceiling);
    const sinceLossMs = atMs - Math.max(lossAtMs, isPartialLoss(action) ? flushAtMs : lossAtMs);
    // What the promise holds for: parts are lost once in a lease at most. All may be lost at any time.
    const isTooMuch = sinceLossMs < leaseMs + syncIntervalMs;
    if (isTooMuch && (isPartialLoss(action) || action.do === "flush")) continue;
    if (isPartialLoss(action)) lossAtMs = atMs;
    events.push({ atMs, action });
    if (action.do !== "flush") continue;
    // As long as a lease, in step with the syncs: some are always the first to come back.
    const flushes = draw.of([0, 0, Math.ceil(leaseMs / syncIntervalMs) + 3]);
    for (let more = 0; more < flushes; more++) {
      atMs += syncIntervalMs + 0.5;
      events.push({ atMs, action });
    }
    flushAtMs = atMs;
  }
  return events.toSorted((a, b) => a.atMs - b.atMs);
}

function isPartialLoss({ do: what }: PoolAction): boolean {
  return what === "lose" || what === "store-clock-step";
}

function drawAction(draw: Draw, timing: Timing, ceiling: number): PoolAction {
  const { leaseMs, staleMs, syncIntervalMs } = timing;
  const id = `m${draw.below(IDS_MAX + 2)}`;
  const name = draw.of([id, id, id, id, `${id}#2`]);
  const forMs = draw.of([
    draw.upTo(2 * syncIntervalMs),
    draw.upTo(leaseMs),
    draw.upTo(staleMs),
    draw.upTo(3 * staleMs),
  ]);
  return draw.of<() => PoolAction>([
    () => drawJoin(draw, id, ceiling),
    () => drawJoin(draw, id, ceiling),
    () => ({ do: "leave", name }),
    () => ({ do: "crash", name }),
    () => ({ do: "pause", name, forMs }),
    () => ({ do: "pause", name, forMs }),
    () => ({ do: "cut", name, forMs }),
    () => ({ do: "cut", name, forMs }),
    () => ({ do: "mute", name, forMs }),
    () => ({ do: "store-down", forMs }),
    () => ({ do: "flush" }),
    () => ({ do: "flush" }),
    () => ({ do: "lose", name }),
    () => ({ do: "lose", name }),
    () => ({ do: "clock-step", name, byMs: draw.upTo(2e6) - 1e6 }),
    () => ({ do: "store-clock-step", byMs: draw.of([-60_000, draw.upTo(4 * staleMs), 60_000]) }),
  ])();
}

function drawJoin(draw: Draw, id: string, ceiling: number): PoolAction {
  const asksPerSecond = draw.of([undefined, undefined, undefined, draw.upTo(ceiling), 0]);
  return { do: "join", id, asksPerSecond };
}

class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  upTo(max: number): number {
    return this.#random.next() * max;
  }

  below(count: number): number {
    return Math.floor(this.#random.next() * count);
  }

  of<const T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}
