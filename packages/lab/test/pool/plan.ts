import { SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { DEFAULT_TIMING } from "@sluice/fleet/sim";
import type { MemberRules, Timing } from "@sluice/fleet/sim";
import type { PoolAction, PoolEvent, ProcessRules } from "@sluice/lab/sim";

/** All that a run depends on. */
export interface Plan {
  readonly seed: number;
  readonly rules: Omit<ProcessRules, "lagMs">;
  readonly membership: MemberRules;
  /** In order of time. An event about a process that is not there changes nothing. */
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
  /** The part of all timers that fire up to `lateMs` late. */
  readonly lateRatio: number;
  readonly lateMs: number;
  /** By how much the clocks of processes differ in speed from the store's, at most; as a factor. */
  readonly drift: number;
}

/**
 * `all`: every fault, sparse or dense. `members`: only members fail, the store and the network are
 * sound; there joiners are promised a share within a bounded time.
 */
export type Faults = "all" | "members";

const TIMINGS: readonly Timing[] = [
  DEFAULT_TIMING,
  DEFAULT_TIMING,
  { syncIntervalMs: 200, leaseMs: 1500, staleMs: 2000, timeoutMs: 100 },
  { syncIntervalMs: 1000, leaseMs: 10_000, staleMs: 13_000, timeoutMs: 500 },
  // The shortest lease and stale age that are accepted.
  { syncIntervalMs: 500, leaseMs: 3750, staleMs: 4688, timeoutMs: 250 },
  { syncIntervalMs: 100, leaseMs: 750, staleMs: 938, timeoutMs: 50 },
];

const CEILINGS = [1, 3, 7, 24, 60];
const IDS_MAX = 8;
/** The drift that a lease allows for. */
const DRIFT = 1.05;

/** A pool, its faults and its traffic, drawn from a seed. */
export function drawPlan(seed: number, faults: Faults = "all"): Plan {
  const draw = new Draw(new SeededRandom(Math.imul(seed, 0x2545f491)));
  const timing = draw.of(TIMINGS);
  const ceiling = draw.of(CEILINGS);
  const isSound = faults === "members";
  const pacing = draw.of(["smooth", "smooth", "smooth", "smooth", "smooth", "epoch"]);
  return {
    seed,
    rules: { rateLimit: constant(ceiling), pacing, division: "rotate" },
    membership: {
      timing,
      maxMembers: draw.of([16, 64]),
      onStoreLoss: draw.of(["safe-share", "safe-share", "closed", "open"]),
      joinOn: isSound ? "agreement" : draw.of(["agreement", "agreement", "safe-share"]),
      share: isSound ? "equal" : draw.of(["equal", "demand"]),
      needsRank: pacing === "epoch",
    },
    events: drawEvents(draw, timing, ceiling, faults),
    weather: {
      lossRatio: isSound ? 0 : draw.of([0, 0, 0.02, 0.1, 0.3]),
      slowRatio: isSound ? 0 : draw.of([0, 0.05, 0.3]),
      slowMs: draw.of([2, 8, 32]) * timing.timeoutMs,
      isOrdered: draw.of([true, false]),
      lateRatio: isSound ? 0 : draw.of([0, 0.02, 0.1]),
      lateMs: draw.of([1, 3]) * timing.syncIntervalMs,
      drift: isSound ? 1 : draw.of([1, DRIFT]),
    },
  };
}

function drawEvents(draw: Draw, timing: Timing, ceiling: number, faults: Faults): PoolEvent[] {
  const { leaseMs, staleMs, syncIntervalMs } = timing;
  const events: PoolEvent[] = [];
  const members = 1 + draw.below(IDS_MAX - 2);
  for (let i = 0; i < members; i++)
    events.push({
      atMs: draw.of([0, draw.upTo(leaseMs)]),
      action: drawJoin(draw, `m${i}`, ceiling, faults),
    });
  let atMs = draw.of([0, 3 * leaseMs]);
  // Dense: an event every 50 to 400 ms of the default timing.
  const isDense = draw.of([false, true]);
  const paceMs = ((0.1 + draw.upTo(0.7)) * syncIntervalMs) / (isDense ? 1 : 0.1);
  const count = draw.below(isDense ? 60 : 16);
  let stepAtMs = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    atMs += draw.of([0, draw.upTo(2 * paceMs), draw.upTo(2 * paceMs), draw.upTo(4 * paceMs)]);
    const action = drawAction(draw, timing, ceiling, faults);
    if (action.do === "store-clock-step") {
      // Pool time absorbs one step of the store's clock for each lease.
      if (atMs - stepAtMs <= staleMs) continue;
      stepAtMs = atMs;
    }
    events.push({ atMs, action });
  }
  return events.toSorted((a, b) => a.atMs - b.atMs);
}

function drawAction(draw: Draw, timing: Timing, ceiling: number, faults: Faults): PoolAction {
  const { leaseMs, staleMs, syncIntervalMs } = timing;
  const id = `m${draw.below(IDS_MAX + 2)}`;
  const name = draw.of([id, id, id, id, `${id}#2`]);
  const forMs = draw.of([
    draw.upTo(2 * syncIntervalMs),
    draw.upTo(leaseMs),
    draw.upTo(staleMs),
    draw.upTo(3 * staleMs),
  ]);
  const join = (): PoolAction => drawJoin(draw, id, ceiling, faults);
  const ofMembers: (() => PoolAction)[] = [
    join,
    join,
    () => ({ do: "leave", name }),
    () => ({ do: "crash", name }),
    () => ({ do: "pause", name, forMs }),
    () => ({ do: "pause", name, forMs }),
  ];
  if (faults === "members") return draw.of(ofMembers)();
  return draw.of<() => PoolAction>([
    ...ofMembers,
    () => ({ do: "restart", name }),
    () => ({ do: "cut", name, forMs }),
    () => ({ do: "mute", name, forMs }),
    () => ({ do: "store-down", forMs }),
    () => ({ do: "flush" }),
    () => ({ do: "lose", name }),
    () => ({ do: "lose", name }),
    () => ({ do: "failover", lagMs: draw.upTo(4 * syncIntervalMs) }),
    () => ({ do: "demand", name, asksPerSecond: drawAsks(draw, ceiling) }),
    () => ({ do: "limits", rateLimit: constant(draw.of(CEILINGS)) }),
    () => ({ do: "clock-step", name, byMs: draw.upTo(2e6) - 1e6 }),
    () => ({ do: "store-clock-step", byMs: (draw.upTo(1) - 0.5) * 10 ** (1 + draw.upTo(6)) }),
  ])();
}

function drawJoin(draw: Draw, id: string, ceiling: number, faults: Faults): PoolAction {
  const asksPerSecond = faults === "members" ? undefined : drawAsks(draw, ceiling);
  return { do: "join", id, asksPerSecond };
}

function drawAsks(draw: Draw, ceiling: number): number | undefined {
  return draw.of([undefined, undefined, undefined, draw.upTo(ceiling), 0]);
}

function constant(ceiling: number): ProcessRules["rateLimit"] {
  return { max: ceiling, min: ceiling, rampUpMs: 1000, mode: { kind: "relaxed" } };
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
