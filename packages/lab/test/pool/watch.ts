import { SECOND_MS } from "@sluice/core/internal";
import { PARTS } from "@sluice/fleet/sim";
import { SlidingSecond } from "@sluice/lab/sim";
import type { PoolSimulation, ProcessWatcher, SimulatedProcess } from "@sluice/lab/sim";
import type { Plan } from "./plan.ts";

/** A promise that was not kept. */
export class Violation extends Error {}

interface Seen {
  /** Whether its start is promised to be quick: it started in a settled pool and was never paused. */
  isTimed: boolean;
  hasArrived: boolean;
  hasHadShare: boolean;
  grantedAtMs: number;
  unbackedAtMs: number;
}

const TINY = 1e-6;
/** The part of its equal share that a joiner is promised within a bounded time. */
const ARRIVED = 0.8;

/**
 * Checks what a pool promises, after every event:
 *
 * - the shares in use add up to the ceiling at most, plus one safe share for each member that uses
 *   one without the store's promise. A paused process counts with what it could use on waking;
 * - no member without a lease uses more than its safe share;
 * - the tokens granted in a sliding second are those of the shares, and 5 % for what is saved up.
 */
export class Watch implements ProcessWatcher {
  readonly #plan: Plan;
  readonly #seen = new Map<SimulatedProcess, Seen>();
  /** Members for whose safe share the ledger may not have made room yet, and when they last were without a promise. */
  readonly #unbacked = new Map<SimulatedProcess, number>();
  readonly #second = new SlidingSecond();
  readonly #safe: number;
  #simulation: PoolSimulation | undefined;
  #ceilings = { second: 0, now: 0, before: 0 };
  #zeroSinceMs: number | undefined;
  granted = 0;
  /** The largest sum of shares so far, as a part of the ceiling. */
  most = 0;
  /** The longest wait of a joiner, and the longest time without any share. */
  waitMs = 0;
  zeroMs = 0;
  timed = 0;

  constructor(plan: Plan) {
    const { onStoreLoss, joinOn, maxMembers } = plan.membership;
    this.#plan = plan;
    const isUsed = onStoreLoss !== "closed" || joinOn === "safe-share";
    this.#safe = isUsed ? 1 / maxMembers : 0;
  }

  attach(simulation: PoolSimulation): void {
    this.#simulation = simulation;
  }

  onChange(): void {
    this.look();
  }

  onGrant(process: SimulatedProcess, count: number): void {
    this.granted += count;
    this.#seenOf(process).grantedAtMs = this.#nowMs;
    const ceiling = this.#ceilingAt();
    const sum = this.#second.add(count, this.#nowMs);
    // With epochs a sliding second may see two of them, and a third if the store's clock is set.
    const slack = this.#plan.rules.pacing === "smooth" ? 1.05 : 3;
    if (sum <= slack * ceiling || this.#isOpen) return;
    const { grantors, unbacked } = this.#ofLastSecond();
    const most = slack * ceiling * (1 + unbacked * this.#safe) + grantors;
    if (sum > most) fail(`${sum} tokens were granted in a second, not ${most.toFixed(1)}`);
  }

  /** The pool at this instant. */
  look(): void {
    const processes = this.#simulation?.processes ?? [];
    let sum = 0;
    for (const process of processes) {
      const part = partOf(process);
      const seen = this.#seenOf(process);
      // What a joiner may use before it has arrived may be a safe share; one that wants less arrives with it.
      const isFirst = this.#plan.membership.joinOn === "safe-share" && !seen.hasHadShare;
      const isStart = (process.member.isJoining || isFirst) && part <= this.#safe + TINY;
      seen.hasHadShare ||= part > 0;
      const isUnbacked = part > 0 && (!process.isPromised || isStart);
      if (isUnbacked) {
        this.#unbacked.set(process, this.#nowMs);
        if (part > this.#safe + TINY && !this.#isOpen)
          fail(`${process.name} has no lease and may use ${part} of the ceiling`);
      }
      if (this.#unbacked.has(process)) seen.unbackedAtMs = this.#nowMs;
      sum += part;
      this.#noteWait(process, part, seen);
    }
    this.#noteZero(processes, sum);
    this.most = Math.max(this.most, sum);
    const most = 1 + this.#unbacked.size * this.#safe;
    if (sum > most + TINY && !this.#isOpen)
      fail(`the shares add up to ${sum.toFixed(4)} of the ceiling, not ${most.toFixed(4)}`);
    if (sum > 1 + TINY) return;
    // A promise from before may still be on its way, for one stale age.
    for (const [process, atMs] of this.#unbacked)
      if (this.#nowMs - atMs > this.#plan.membership.timing.staleMs) this.#unbacked.delete(process);
  }

  /** After quiet every member has its fair share, and of each id one process is in. */
  checkSettled(): void {
    const processes = this.#simulation?.processes ?? [];
    const live = processes.filter(({ isLive }) => isLive);
    const ids = new Set(processes.map(({ id }) => id));
    if (live.length !== ids.size)
      fail(`${live.length} of ${processes.length} processes are in, with ${ids.size} ids`);
    const isByDemand = live.some(({ asksPerSecond }) => asksPerSecond !== undefined);
    let sum = 0;
    for (const process of live) {
      const { name, member, isPromised } = process;
      const part = partOf(process);
      // Demand that comes in single tokens moves shares at every sync, but none below its equal share.
      const isRight = isByDemand
        ? isPromised && member.size === live.length && this.#hasEqualShare(process, part)
        : process.isSettledIn(live.length);
      if (!isRight)
        fail(`${name} has ${part} in a pool of ${member.size}, with ${live.length} live`);
      sum += part;
    }
    if (!isByDemand && live.length > 0 && sum < 1 - TINY)
      fail(`the shares add up to ${sum.toFixed(4)} of the ceiling only`);
  }

  #hasEqualShare({ asksPerSecond, member }: SimulatedProcess, part: number): boolean {
    const isEqual = this.#plan.membership.share === "equal";
    return (asksPerSecond !== undefined && !isEqual) || part * member.size >= 1 - TINY;
  }

  #noteWait(process: SimulatedProcess, part: number, seen: Seen): void {
    if (process.isPaused || process.member.isRefused) seen.isTimed = false;
    if (seen.hasArrived || !seen.isTimed) return;
    this.waitMs = Math.max(this.waitMs, this.#nowMs - process.joinedAtMs);
    if (part * process.member.size < ARRIVED - TINY) return;
    seen.hasArrived = true;
    this.timed++;
  }

  #noteZero(processes: readonly SimulatedProcess[], sum: number): void {
    const { syncIntervalMs } = this.#plan.membership.timing;
    const isHealthy = processes.some(
      (process) =>
        this.#seenOf(process).isTimed && this.#nowMs - process.joinedAtMs > syncIntervalMs,
    );
    const inUse = sum > 0 && processes.some(({ share }) => share > 0);
    if (inUse || !isHealthy) this.#zeroSinceMs = this.#nowMs;
    this.zeroMs = Math.max(this.zeroMs, this.#nowMs - (this.#zeroSinceMs ?? this.#nowMs));
  }

  /** The highest ceiling of any process in this second and the one before. */
  #ceilingAt(): number {
    const second = Math.floor(this.#nowMs / SECOND_MS);
    const last = this.#ceilings;
    if (second !== last.second)
      this.#ceilings = { second, now: 0, before: second - last.second > 1 ? 0 : last.now };
    const kept = this.#ceilings;
    for (const { ceiling } of this.#simulation?.processes ?? [])
      kept.now = Math.max(kept.now, ceiling);
    return Math.max(kept.now, kept.before);
  }

  #ofLastSecond(): { grantors: number; unbacked: number } {
    const sinceMs = this.#nowMs - SECOND_MS;
    const all = [...this.#seen.values()];
    return {
      grantors: all.filter(({ grantedAtMs }) => grantedAtMs > sinceMs).length,
      unbacked: all.filter(({ unbackedAtMs }) => unbackedAtMs > sinceMs).length,
    };
  }

  #seenOf(process: SimulatedProcess): Seen {
    const known = this.#seen.get(process);
    if (known !== undefined) return known;
    const { leaseMs } = this.#plan.membership.timing;
    const seen: Seen = {
      // A pool that starts cold learns for longer than a lease first.
      isTimed: process.joinedAtMs > 2 * leaseMs,
      hasArrived: false,
      hasHadShare: false,
      grantedAtMs: Number.NEGATIVE_INFINITY,
      unbackedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#seen.set(process, seen);
    return seen;
  }

  get #isOpen(): boolean {
    return this.#plan.membership.onStoreLoss === "open";
  }

  get #nowMs(): number {
    return this.#simulation?.loop.now() ?? 0;
  }
}

export function fail(what: string): never {
  throw new Violation(what);
}

function partOf({ entitlement }: SimulatedProcess): number {
  if (entitlement === undefined) return 0;
  return entitlement.kind === "seat" ? 1 / entitlement.seat.poolSize : entitlement.parts / PARTS;
}
