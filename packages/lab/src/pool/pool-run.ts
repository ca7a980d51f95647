import type { RampOptions, Random } from "@sluice/core";
import { SECOND_MS, shareOf } from "@sluice/core/internal";
import type { Entitlement } from "@sluice/fleet/sim";
import { drawExponential } from "../simulation/engine/draw.ts";
import { PoolSimulation } from "./pool-simulation.ts";
import type { PoolAction } from "./pool-simulation.ts";
import { Settling } from "./settling.ts";
import type { PoolRules, SimulatedMember } from "./simulated-member.ts";
import { SlidingSecond } from "./sliding-second.ts";

export interface PoolEvent {
  readonly atMs: number;
  readonly action: PoolAction;
}

export interface PoolRunOptions {
  readonly rules: Omit<PoolRules, "pool" | "lagMs">;
  /** Of a message to the store or back, on average. */
  readonly latencyMs: number;
  /** In order of time. */
  readonly events: readonly PoolEvent[];
  readonly untilMs: number;
  readonly seed: number;
}

export interface PoolRow {
  readonly t: number;
  readonly live: number;
  readonly members: Readonly<Record<string, { readonly size: number; readonly share: number }>>;
  readonly sum: number;
}

export interface PoolStats {
  readonly maxSumRatio: number;
  readonly maxWindowRatio: number;
  /** By event; null if the pool had not settled when the next began. */
  readonly settledAfterS: readonly (number | null)[];
}

export interface PoolRunResult {
  readonly rows: readonly PoolRow[];
  readonly stats: PoolStats;
  /** By row: the ceiling, and the tokens granted since the row before, for one second. */
  readonly ceilings: readonly number[];
  readonly granted: readonly number[];
}

/** A timer that is due fires so much later, at most. */
const LAG_MAX_MS = 2;
/** Sums of shares end a little beside the ceiling. */
const TINY = 1e-6;

/** Runs a pool through what happens to it, every member asking all the time. */
export function runPool(options: PoolRunOptions): PoolRunResult {
  const { rules, latencyMs, events, untilMs, seed } = options;
  const gauge = new Gauge(rules);
  const simulation = new PoolSimulation({
    rules: { ...rules, pool: "pool", lagMs: (random) => LAG_MAX_MS * random.next() },
    network: {
      wayMs: (random: Random) => (latencyMs * (1 + drawExponential(random))) / 2,
      isOrdered: true,
    },
    seed,
    watcher: {
      onSent: () => {},
      onDue: () => gauge.onChange(simulation),
      onReply: () => gauge.onChange(simulation),
      onGrant: (member, count) => gauge.onGrant(count, member.ceiling, simulation.loop.now()),
    },
  });
  const { loop } = simulation;
  for (const { atMs, action } of events) {
    loop.at(atMs, () => {
      simulation.perform(action);
      gauge.onChange(simulation);
    });
    // What lasts ends by itself, which changes the pool too.
    const endMs = endOf({ atMs, action });
    if (endMs > atMs) loop.at(endMs, () => loop.at(endMs, () => gauge.onChange(simulation)));
  }
  const { syncIntervalMs } = rules.membership.timing;
  const rows: PoolRow[] = [];
  const ceilings: number[] = [];
  const granted: number[] = [];
  for (let atMs = 0; atMs <= untilMs; atMs += syncIntervalMs) {
    loop.at(atMs, () => {
      gauge.onChange(simulation);
      rows.push(rowOf(simulation, rules, atMs));
      ceilings.push(ceilingOf(simulation.members, rules.rateLimit));
      granted.push((gauge.takeGranted() * SECOND_MS) / syncIntervalMs);
    });
  }
  loop.run(
    untilMs + TINY,
    () => {},
    () => false,
  );
  const { maxSumRatio, maxWindowRatio } = gauge;
  const settledAfterS = settledOf(events, untilMs, gauge.settling);
  return { rows, stats: { maxSumRatio, maxWindowRatio, settledAfterS }, ceilings, granted };
}

/** When what an event does is over. */
function endOf({ atMs, action }: PoolEvent): number {
  return "forMs" in action ? atMs + action.forMs : atMs;
}

/** Looks at the pool whenever anything changes. */
class Gauge {
  readonly settling = new Settling();
  readonly #rules: PoolRunOptions["rules"];
  readonly #second = new SlidingSecond();
  #maxSumRatio = 0;
  #maxWindowRatio = 0;
  #granted = 0;
  /** Of this second and the one before: a window may span both. */
  #ceilings = { second: 0, now: 0, before: 0 };

  constructor(rules: PoolRunOptions["rules"]) {
    this.#rules = rules;
  }

  get maxSumRatio(): number {
    return rounded(this.#maxSumRatio);
  }

  get maxWindowRatio(): number {
    return rounded(this.#maxWindowRatio);
  }

  onGrant(count: number, ceiling: number, atMs: number): void {
    const second = Math.floor(atMs / SECOND_MS);
    const last = this.#ceilings;
    if (second === last.second) last.now = Math.max(last.now, ceiling);
    else this.#ceilings = { second, now: ceiling, before: second - last.second > 1 ? 0 : last.now };
    this.#granted += count;
    const ratio = this.#second.add(count, atMs) / Math.max(this.#ceilings.now, last.now, 1);
    this.#maxWindowRatio = Math.max(this.#maxWindowRatio, ratio);
  }

  takeGranted(): number {
    const granted = this.#granted;
    this.#granted = 0;
    return granted;
  }

  onChange({ members, loop }: PoolSimulation): void {
    let [sum, ceiling, live, isRight] = [0, 0, 0, true];
    for (const member of members) {
      sum += member.share;
      ceiling = Math.max(ceiling, member.ceiling);
      if (member.isLive) live++;
    }
    for (const member of members) {
      if (!member.isLive) continue;
      if (!member.isLeased || member.session.membership.size !== live) isRight = false;
    }
    if (ceiling > 0) this.#maxSumRatio = Math.max(this.#maxSumRatio, sum / ceiling);
    // By demand nobody holds what nobody wants.
    const isWhole = this.#rules.membership.share === "demand" || sum > ceiling - ceiling * TINY;
    this.settling.note(loop.now(), isRight && (isWhole || live === 0));
  }
}

function settledOf(
  events: readonly PoolEvent[],
  untilMs: number,
  settling: Settling,
): (number | null)[] {
  return events.map((event) => {
    const endMs = endOf(event);
    const next = events.find(({ atMs }) => atMs > endMs)?.atMs ?? Number.POSITIVE_INFINITY;
    const afterMs = settling.afterMs(endMs, Math.min(next, untilMs));
    return afterMs === undefined ? null : rounded(afterMs / SECOND_MS);
  });
}

function rowOf(simulation: PoolSimulation, rules: PoolRunOptions["rules"], atMs: number): PoolRow {
  const members = simulation.members.filter(
    ({ session }) => session.membership.standing !== "refused",
  );
  const shares = members.map((member) => shareAt(member, rules, atMs));
  const shown = members.map(({ name, session }, index): [string, PoolRow["members"][string]] => [
    name,
    { size: session.membership.size, share: rounded(shares[index] ?? 0) },
  ]);
  return {
    t: atMs / SECOND_MS,
    live: members.filter(({ isLive }) => isLive).length,
    members: Object.fromEntries(shown),
    sum: rounded(shares.reduce((total, share) => total + share, 0)),
  };
}

/** By epochs a share is whole tokens. */
function shareAt(member: SimulatedMember, rules: PoolRunOptions["rules"], atMs: number): number {
  const entitlement: Entitlement | undefined = member.entitlement;
  if (rules.pacing === "smooth" || entitlement?.kind !== "seat") return member.share;
  const epoch = Math.floor(atMs / SECOND_MS);
  return shareOf(member.ceiling, entitlement.seat, epoch, rules.division);
}

function ceilingOf(members: readonly SimulatedMember[], { min }: RampOptions): number {
  let ceiling = min;
  for (const member of members) ceiling = Math.max(ceiling, member.ceiling);
  return ceiling;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
