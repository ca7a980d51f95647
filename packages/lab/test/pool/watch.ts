import { SECOND_MS } from "@sluice/core/internal";
import { PARTS } from "@sluice/fleet/sim";
import type { Entitlement, MembershipChange, SyncRequest } from "@sluice/fleet/sim";
import { SlidingSecond } from "@sluice/lab/sim";
import type { PoolRules, PoolSimulation, ProcessWatcher, SimulatedMember } from "@sluice/lab/sim";

/** A promise that was not kept. */
export class Violation extends Error {}

type Answer = Parameters<ProcessWatcher["onReply"]>[1];

interface Reply {
  /** Stands for all who were live. */
  readonly roster: string;
  readonly sentAtMs: number;
  readonly gotAtMs: number;
}

/** What is known of a process without asking its own code. */
interface Record {
  inFlight: { readonly sequence: number; readonly sentAtMs: number } | undefined;
  /** Counted replies in a row, none missed. */
  replies: Reply[];
  /** The sending of the last sync that was answered in time. */
  confirmedAtMs: number;
  /** Since when it has run without a stop. */
  runningSinceMs: number;
  wasPaused: boolean;
  hasHeldLease: boolean;
  readonly unleased: SlidingSecond;
  grantedAtMs: number;
}

const TINY = 1e-6;
/**
 * Checks the promises of a pool after everything that happens in it: that of rate (I1), of no zombies
 * (I3), of the order of sizes (I4), of identity (I7), and that of a lost store (I8). Leases and
 * hold-downs are worked out anew from what was sent and received.
 */
export class Watch implements ProcessWatcher {
  readonly #rules: Omit<PoolRules, "lagMs">;
  readonly #lateMaxMs: number;
  readonly #records = new Map<SimulatedMember, Record>();
  readonly #leased = new SlidingSecond();
  #simulation: PoolSimulation | undefined;
  /** All tokens so far. */
  granted = 0;

  constructor(rules: Omit<PoolRules, "lagMs">, lateMaxMs: number) {
    this.#rules = rules;
    this.#lateMaxMs = lateMaxMs;
  }

  attach(simulation: PoolSimulation): void {
    this.#simulation = simulation;
  }

  onSent(process: SimulatedMember, { sequence, size }: SyncRequest, nowMs: number): void {
    const record = this.#recordOf(process);
    const used = process.session.membership.size;
    if (record.inFlight !== undefined) fail("I8", `${process.name} has two syncs under way`);
    if (size !== undefined && size > used)
      fail("I4", `${process.name} reports ${size} and uses ${used}`);
    record.inFlight = { sequence, sentAtMs: nowMs };
  }

  onDue(process: SimulatedMember, nowMs: number, changes: readonly MembershipChange[]): void {
    const record = this.#recordOf(process);
    const { timeoutMs } = this.#rules.membership.timing;
    const sent = record.inFlight;
    if (sent !== undefined && nowMs >= sent.sentAtMs + timeoutMs) {
      record.inFlight = undefined;
      record.replies = [];
    }
    this.#checkChanges(process, changes, undefined);
    this.#checkStoreLoss(process, record, nowMs);
    this.look();
  }

  onReply(process: SimulatedMember, answer: Answer, changes: readonly MembershipChange[]): void {
    const record = this.#recordOf(process);
    const { reply, nowMs, sequence } = answer;
    const sent = record.inFlight;
    const { timeoutMs } = this.#rules.membership.timing;
    if (sent?.sequence === sequence) {
      record.inFlight = undefined;
      const isInTime = nowMs - sent.sentAtMs <= timeoutMs;
      if (!isInTime) record.replies = [];
      else if (reply.kind === "refused") {
        record.replies = [];
        record.confirmedAtMs = Number.NEGATIVE_INFINITY;
        record.hasHeldLease = false;
      } else {
        record.confirmedAtMs = sent.sentAtMs;
        record.replies.push({ roster: reply.roster, sentAtMs: sent.sentAtMs, gotAtMs: nowMs });
      }
    }
    this.#checkChanges(process, changes, answer);
    if (process.session.membership.standing === "member") record.hasHeldLease = true;
    this.look();
  }

  onGrant(process: SimulatedMember, count: number): void {
    const record = this.#recordOf(process);
    this.granted += count;
    record.grantedAtMs = this.#nowMs;
    const { max } = this.#rules.rateLimit;
    if (!this.#isLeased(process, record)) {
      // One that is saved up, and one more when it learns where epochs begin.
      const most = this.#unleasedMost(process, record) * max * this.#slack + 2;
      const sum = record.unleased.add(count, this.#nowMs);
      if (sum > most)
        fail("I3", `${process.name} has no lease and granted ${sum} in a second, not ${most}`);
      return;
    }
    const sum = this.#leased.add(count, this.#nowMs);
    if (sum <= this.#slack * max + 1) return;
    const most = this.#slack * max + this.#grantors;
    if (sum > most) fail("I1", `${sum} tokens granted in a second, not ${most}`);
  }

  /** The pool at this instant. */
  look(): void {
    let sum = 0;
    const holders = new Set<string>();
    for (const process of this.#simulation?.members ?? []) {
      const record = this.#recordOf(process);
      this.#notePause(process, record);
      const { entitlement } = process;
      if (entitlement === undefined) continue;
      const part = partOf(entitlement);
      if (!this.#isLeased(process, record)) {
        const most = this.#unleasedMost(process, record);
        if (part > most + TINY)
          fail(
            "I3",
            `${process.name} has no lease and may use ${part} of the ceiling, not ${most}`,
          );
        continue;
      }
      if (process.session.membership.leaseUntilMs > this.#leaseEnd(record) + TINY)
        fail("I3", `${process.name} believes in a lease that was not given`);
      sum += part;
      if (holders.has(process.id)) fail("I7", `two processes with the id ${process.id} grant`);
      holders.add(process.id);
    }
    if (sum > 1 + TINY) fail("I1", `the shares add up to ${sum.toFixed(3)} of the ceiling`);
  }

  /** I5: all agree on who is there, and what they may use is the whole. */
  checkSettled(): void {
    const live = (this.#simulation?.members ?? []).filter(({ isLive }) => isLive);
    let sum = 0;
    for (const { name, session, isLeased, entitlement } of live) {
      const { standing, size } = session.membership;
      if (!isLeased) fail("I5", `${name} is still ${standing}, with ${live.length} live`);
      if (size !== live.length) fail("I5", `${name} uses ${size}, with ${live.length} live`);
      sum += entitlement === undefined ? 0 : partOf(entitlement);
    }
    const isDemand = this.#rules.membership.share === "demand";
    if (live.length > 0 && !isDemand && sum < 1 - TINY)
      fail("I5", `the shares add up to ${sum.toFixed(3)} of the ceiling only`);
  }

  #checkChanges(
    process: SimulatedMember,
    changes: readonly MembershipChange[],
    answer: Answer | undefined,
  ): void {
    for (const change of changes) {
      const isGrowth =
        change.type === "size"
          ? change.size < change.before && change.size > 0
          : change.standing === "member";
      if (!isGrowth) continue;
      const isAgreed = answer?.reply.kind === "counted" && answer.reply.verdict === "agree";
      if (!isAgreed) fail("I4", `${process.name} takes more without an agreement`);
      if (!this.#isHeldDown(this.#recordOf(process)))
        fail("I4", `${process.name} takes more before the hold-down is over`);
    }
  }

  /** The same members at every sync, none missed, for a lease. */
  #isHeldDown({ replies }: Record): boolean {
    const { leaseMs, syncIntervalMs, timeoutMs } = this.#rules.membership.timing;
    const last = replies.at(-1);
    if (last === undefined) return false;
    let first = last;
    for (const reply of replies.toReversed()) {
      const isGap = first.sentAtMs - reply.gotAtMs > syncIntervalMs + timeoutMs;
      if (reply !== last && (reply.roster !== last.roster || isGap)) break;
      first = reply;
    }
    return last.sentAtMs - first.gotAtMs >= leaseMs;
  }

  #checkStoreLoss(process: SimulatedMember, record: Record, nowMs: number): void {
    this.#notePause(process, record);
    const { leaseMs, syncIntervalMs, timeoutMs } = this.#rules.membership.timing;
    const patienceMs = leaseMs + 3 * (syncIntervalMs + timeoutMs + this.#lateMaxMs);
    const sinceMs = Math.max(record.confirmedAtMs, record.runningSinceMs);
    if (!record.hasHeldLease || nowMs - sinceMs < patienceMs) return;
    const { standing } = process.session.membership;
    if (standing !== "lost") fail("I8", `${process.name} is ${standing} though the store is lost`);
    const part = process.entitlement === undefined ? 0 : partOf(process.entitlement);
    const most = this.#unleasedMost(process, record);
    const isOpen = this.#rules.membership.onStoreLoss === "open";
    if (isOpen ? part === 0 : Math.abs(part - most) > TINY)
      fail("I8", `${process.name} has lost the store and may use ${part}, not ${most}`);
  }

  /** What a process may use without a lease, as a part of the ceiling. */
  #unleasedMost({ session }: SimulatedMember, { hasHeldLease }: Record): number {
    const { onStoreLoss, joinOn, maxMembers } = this.#rules.membership;
    const { standing } = session.membership;
    if (standing === "refused" || standing === "member") return 0;
    // It goes on with what it had until it has agreed anew.
    if (hasHeldLease && onStoreLoss === "open") return 1;
    const mayUse =
      (hasHeldLease && onStoreLoss !== "closed") ||
      (standing === "joining" && joinOn === "safe-share");
    return mayUse ? 1 / maxMembers : 0;
  }

  /** Who was answered and has not agreed yet has no lease. */
  #isLeased({ session, nowMs }: SimulatedMember, record: Record): boolean {
    return session.membership.standing === "member" && nowMs < this.#leaseEnd(record);
  }

  #leaseEnd({ confirmedAtMs }: Record): number {
    return confirmedAtMs + this.#rules.membership.timing.leaseMs;
  }

  #notePause({ isPaused, nowMs }: SimulatedMember, record: Record): void {
    if (record.wasPaused && !isPaused) record.runningSinceMs = nowMs;
    record.wasPaused = isPaused;
  }

  #recordOf(process: SimulatedMember): Record {
    const known = this.#records.get(process);
    if (known !== undefined) return known;
    const record: Record = {
      inFlight: undefined,
      replies: [],
      confirmedAtMs: Number.NEGATIVE_INFINITY,
      runningSinceMs: process.nowMs,
      wasPaused: false,
      hasHeldLease: false,
      unleased: new SlidingSecond(),
      grantedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#records.set(process, record);
    return record;
  }

  /** By epochs a sliding second may see the shares of two. */
  get #slack(): number {
    return this.#rules.pacing === "smooth" ? 1.05 : 3;
  }

  get #grantors(): number {
    const sinceMs = this.#nowMs - SECOND_MS;
    return [...this.#records.values()].filter(({ grantedAtMs }) => grantedAtMs > sinceMs).length;
  }

  get #nowMs(): number {
    return this.#simulation?.loop.now() ?? 0;
  }
}

export function fail(invariant: string, what: string): never {
  throw new Violation(`${invariant}: ${what}`);
}

function partOf(entitlement: Entitlement): number {
  return entitlement.kind === "seat" ? 1 / entitlement.seat.poolSize : entitlement.parts / PARTS;
}
