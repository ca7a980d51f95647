import type {
  LeaveReason,
  LeaveRequest,
  PoolTimes,
  SyncReply,
  SyncRequest,
} from "../store/pool-store.ts";
import { Membership } from "./membership.ts";
import type { MembershipChange, MembershipRules } from "./membership.ts";

/** Who a member is. */
export interface Identity {
  readonly pool: string;
  readonly member: string;
  readonly nonce: string;
}

/** What a member says of itself at a sync. */
export interface Condition {
  /** Its ramp's ceiling; undefined before its first grant. */
  readonly level: number | undefined;
  /** What it wants, in parts of the ceiling. */
  readonly wanted: number;
  readonly limitsVersion: number;
}

interface InFlight {
  readonly sequence: number;
  readonly sentAtMs: number;
}

/**
 * The course of a membership: when to sync, when to give a sync up, which replies still count. It
 * takes the time and what happened, and says what to send and what changed. Whoever drives it sends
 * and waits: it must be woken at `dueAtMs`.
 */
export class MemberSession {
  readonly membership: Membership;
  readonly #identity: Identity;
  readonly #rules: MembershipRules;
  readonly #times: PoolTimes;
  #sequence = 0;
  #inFlight: InFlight | undefined;
  #nextAtMs: number;
  #syncedAtMs: number | undefined;

  constructor(
    identity: Identity,
    rules: MembershipRules,
    { nowMs, resumeTtlMs }: { readonly nowMs: number; readonly resumeTtlMs: number },
  ) {
    this.membership = new Membership(rules);
    this.#identity = identity;
    this.#rules = rules;
    const { leaseMs, syncIntervalMs, staleMs } = rules.timing;
    // One sync more: who holds a share has said so before anybody else is given one.
    this.#times = { staleMs, learningMs: leaseMs + syncIntervalMs, resumeTtlMs };
    this.#nextAtMs = nowMs;
  }

  /** When `onDue` must be called next. */
  get dueAtMs(): number {
    if (this.#inFlight === undefined) return this.#nextAtMs;
    return this.#inFlight.sentAtMs + this.#rules.timing.timeoutMs;
  }

  /** When the last sync was sent that was answered. */
  get syncedAtMs(): number | undefined {
    return this.#syncedAtMs;
  }

  /** Gives up a sync that has taken too long; undefined if there is none. */
  giveUp(nowMs: number): readonly MembershipChange[] | undefined {
    const sent = this.#inFlight;
    return sent === undefined || nowMs < this.dueAtMs ? undefined : this.#miss(sent, nowMs);
  }

  /** It is due: a sync has taken too long, or is to be sent. */
  onDue(
    nowMs: number,
    condition: Condition,
  ): { send?: SyncRequest; changes: readonly MembershipChange[] } {
    const changes = this.giveUp(nowMs) ?? [];
    if (this.#inFlight !== undefined || nowMs < this.#nextAtMs) return { changes };
    return { send: this.#send(nowMs, condition), changes };
  }

  /** Whether this sync is neither answered nor given up. */
  isAwaiting(sequence: number): boolean {
    return this.#inFlight?.sequence === sequence;
  }

  /** Whether the reply to this sync would still count: nobody may have noticed yet that it is late. */
  isInTime(sequence: number, nowMs: number): boolean {
    const sent = this.#inFlight;
    return sent?.sequence === sequence && nowMs - sent.sentAtMs <= this.#rules.timing.timeoutMs;
  }

  /** A sync was answered. Of one that was given up nothing counts any more. */
  onReply(sequence: number, reply: SyncReply, nowMs: number): readonly MembershipChange[] {
    const sent = this.#inFlight;
    if (sent?.sequence !== sequence) return [];
    if (!this.isInTime(sequence, nowMs)) return this.#miss(sent, nowMs);
    this.#inFlight = undefined;
    this.#syncedAtMs = sent.sentAtMs;
    return this.membership.onReply(reply, sent.sentAtMs, nowMs);
  }

  /** A sync failed. */
  onFailure(sequence: number, nowMs: number): readonly MembershipChange[] {
    const sent = this.#inFlight;
    return sent?.sequence === sequence ? this.#miss(sent, nowMs) : [];
  }

  /** What to tell the store on going. Nothing may be granted after this. */
  leave(reason: LeaveReason, level: number | undefined): LeaveRequest {
    return { ...this.#identity, level, reason, resumeTtlMs: this.#times.resumeTtlMs };
  }

  #send(nowMs: number, { level, wanted, limitsVersion }: Condition): SyncRequest {
    this.#sequence++;
    this.#inFlight = { sequence: this.#sequence, sentAtMs: nowMs };
    // Not in step with the last: after a stop nothing is made up for.
    this.#nextAtMs = nowMs + this.#rules.timing.syncIntervalMs;
    return {
      ...this.#identity,
      sequence: this.#sequence,
      ...this.membership.report(wanted),
      level,
      limitsVersion,
      times: this.#times,
    };
  }

  #miss({ sentAtMs }: InFlight, nowMs: number): readonly MembershipChange[] {
    this.#inFlight = undefined;
    return this.membership.onMiss(sentAtMs, nowMs);
  }
}
