import type { Timing } from "../ledger/timing.ts";
import { PARTS } from "../ledger/parts.ts";
import type {
  KnownLimits,
  LeaveReason,
  LeaveRequest,
  SyncReply,
  SyncRequest,
} from "../store/pool-store.ts";
import { Membership } from "./membership.ts";
import type { MemberRules, MembershipChange } from "./membership.ts";

/** The identity of a member: pool, id and nonce. */
export interface Identity {
  readonly pool: string;
  readonly member: string;
  readonly nonce: string;
}

/** What a member says of itself at a sync. */
export interface Condition {
  /** Its ramp's ceiling; undefined before its first grant. */
  readonly level: number | undefined;
  /** What it wants, in parts of the ceiling; undefined while that is not known. */
  readonly wanted: number | undefined;
  readonly limits: KnownLimits;
  /** The used part of its share, 0 to 1, shown to people who look at the pool; see `About`. */
  readonly used?: number | undefined;
}

interface InFlight {
  readonly sequence: number;
  readonly sentAtMs: number;
  readonly isLate: boolean;
}

/** What is to be done when a session is due. */
export interface Due {
  readonly send: SyncRequest | undefined;
  /** Whether the reply to the last sync has just become late. */
  readonly isLate: boolean;
  readonly changes: readonly MembershipChange[];
}

/**
 * The course of a membership: when to sync and which replies count. It takes the time and what
 * happened, and says what to send and what changed. It must be woken at `dueAtMs`.
 *
 * A reply counts until the next sync is sent, however late it is: its lease counts from the send of
 * its sync, and the store keeps the share until a later sync reports otherwise.
 */
export class MemberSession {
  readonly membership: Membership;
  readonly #identity: Identity;
  readonly #rules: MemberRules;
  readonly #resumeTtlMs: number;
  #sequence = 0;
  #inFlight: InFlight | undefined;
  #nextAtMs: number;

  constructor(
    identity: Identity,
    rules: MemberRules,
    { nowMs, resumeTtlMs }: { readonly nowMs: number; readonly resumeTtlMs: number },
  ) {
    this.membership = new Membership(rules);
    this.#identity = identity;
    this.#rules = rules;
    this.#resumeTtlMs = resumeTtlMs;
    this.#nextAtMs = nowMs;
  }

  /** When `onDue` must be called next. */
  get dueAtMs(): number {
    const sent = this.#inFlight;
    if (sent === undefined) return this.#nextAtMs;
    const lateAtMs = sent.sentAtMs + this.#timing.timeoutMs;
    return sent.isLate ? this.#sendAtMs : Math.min(lateAtMs, this.#sendAtMs);
  }

  /** When the next sync is sent. A reply that is late is waited for: the next sync would supersede it. */
  get #sendAtMs(): number {
    const sent = this.#inFlight;
    const { syncIntervalMs, timeoutMs } = this.#timing;
    return sent === undefined ? this.#nextAtMs : sent.sentAtMs + syncIntervalMs + timeoutMs;
  }

  /** The session is due: a reply has become late, or the next sync is to be sent. */
  onDue(nowMs: number, condition: () => Condition): Due {
    const sent = this.#inFlight;
    let changes: readonly MembershipChange[] = [];
    const isLate =
      sent !== undefined && !sent.isLate && nowMs >= sent.sentAtMs + this.#timing.timeoutMs;
    if (isLate) {
      this.#inFlight = { ...sent, isLate };
      changes = this.membership.onFailure(sent.sentAtMs, nowMs);
    }
    const send = nowMs < this.#sendAtMs ? undefined : this.#send(nowMs, condition());
    return { send, isLate, changes };
  }

  /** Whether the reply to this sync would still count. */
  isAwaiting(sequence: number): boolean {
    return this.#inFlight?.sequence === sequence;
  }

  /** A sync was answered. The reply to any but the last changes nothing. */
  onReply(sequence: number, reply: SyncReply, nowMs: number): readonly MembershipChange[] {
    const sent = this.#inFlight;
    if (sent?.sequence !== sequence) return [];
    this.#inFlight = undefined;
    return this.membership.onReply(reply, sent.sentAtMs, nowMs);
  }

  /** A sync failed. */
  onFailure(sequence: number, nowMs: number): readonly MembershipChange[] {
    const sent = this.#inFlight;
    if (sent?.sequence !== sequence) return [];
    this.#inFlight = undefined;
    return this.membership.onFailure(sent.sentAtMs, nowMs);
  }

  /** What to tell the store on leaving. Nothing may be granted after this. */
  leave(reason: LeaveReason, level: number | undefined): LeaveRequest {
    return {
      ...this.#identity,
      level,
      reason,
      timing: this.#timing,
      resumeTtlMs: this.#resumeTtlMs,
    };
  }

  get #timing(): Timing {
    return this.#rules.timing;
  }

  #send(nowMs: number, { level, wanted, limits, used }: Condition): SyncRequest {
    this.#sequence++;
    this.#inFlight = { sequence: this.#sequence, sentAtMs: nowMs, isLate: false };
    // Not in step with the last sync: after a stop no syncs are made up for.
    this.#nextAtMs = nowMs + this.#timing.syncIntervalMs;
    const { held, isHeldUnleased } = this.membership.onSend(nowMs);
    return {
      ...this.#identity,
      sequence: this.#sequence,
      isFirst: this.membership.syncedAtMs === undefined,
      held,
      isHeldUnleased,
      wanted: this.#rules.share === "demand" ? wanted : PARTS,
      safeShare: this.membership.safeShare,
      startsOnSafeShare: this.#rules.joinOn === "safe-share",
      needsRank: this.#rules.needsRank,
      level,
      limits,
      timing: this.#timing,
      resumeTtlMs: this.#resumeTtlMs,
      used,
    };
  }
}
