import type { Seat } from "@sluice/core/internal";
import type { Decision } from "../ledger/decision.ts";
import type { RefusalCause } from "../ledger/ledger.ts";
import { equalShare, PARTS } from "../ledger/parts.ts";
import type { Timing } from "../ledger/timing.ts";
import type { SyncReply, Told } from "../store/pool-store.ts";
import { NO_LEASE, release, retell, usableParts } from "./lease.ts";
import type { Lease } from "./lease.ts";

/**
 * `joining`: waits for its first share. `member`: has its share. `lost`: its lease has ended and the
 * store does not answer. `refused`: the store does not accept it, see `RefusalCause`.
 */
export type Standing = "joining" | "member" | "lost" | "refused";

/** What a member may use of the ceiling: the share of a seat, or parts of it; undefined: nothing. */
export type Entitlement =
  | { readonly kind: "seat"; readonly seat: Seat }
  | { readonly kind: "parts"; readonly parts: number };

export interface MemberRules {
  readonly timing: Timing;
  /** The safe share, of a member without a lease, is the ceiling divided by this. */
  readonly maxMembers: number;
  /** What a member uses after its lease has ended while the store does not answer. */
  readonly onStoreLoss: "safe-share" | "closed" | "open";
  /** Whether a joiner waits for its share, or starts at once on its safe share. */
  readonly joinOn: "agreement" | "safe-share";
  readonly share: "equal" | "demand";
  /** Whether shares are rounded to whole tokens by rank, so that they add up to the ceiling. */
  readonly needsRank: boolean;
}

/** Something that changed for a member, and why. */
export type MembershipChange =
  | {
      readonly type: "standing";
      readonly standing: Standing;
      readonly before: Standing;
      readonly reason: "arrived" | "lease-ended" | "store-back" | "accepted" | RefusalCause;
    }
  /** What the store told the member, in parts of the ceiling. */
  | {
      readonly type: "share";
      readonly parts: number;
      readonly before: number;
      readonly reason: Decision["reason"];
    }
  | { readonly type: "size"; readonly size: number; readonly before: number }
  /** The store has lost memory: shares stay as they are and none grows for this long. */
  | { readonly type: "learning"; readonly forMs: number };

/** What a member reports at a sync, in parts. */
export interface Held {
  readonly held: number;
  readonly isHeldUnleased: boolean;
}

/** From this part of its fair share on a joiner is a member; as the ledger has it. */
const ARRIVED = 0.9;

interface State {
  readonly standing: Standing;
  readonly lease: Lease;
  /** Members that the store counted last; 0 before the first reply. */
  readonly size: number;
  readonly fair: number;
  readonly rank: number | undefined;
  readonly learningMs: number;
  /** When the last sync was sent that was answered. */
  readonly syncedAtMs: number | undefined;
  /** Whether the last sync has failed, or its reply is late. */
  readonly isFailing: boolean;
  /** Until when the member held what it reported at its last send; undefined if it held nothing by lease. */
  readonly reportedUntilMs: number | undefined;
}

/**
 * One member's view of its pool: what it may use, and under which lease. It takes what happened and
 * says what changed; it sends nothing and waits for nothing.
 */
export class Membership {
  readonly #rules: MemberRules;
  #state: State = {
    standing: "joining",
    lease: NO_LEASE,
    size: 0,
    fair: 0,
    rank: undefined,
    learningMs: 0,
    syncedAtMs: undefined,
    isFailing: false,
    reportedUntilMs: undefined,
  };
  /** The same objects while nothing changes: pacings compare them at every grant. */
  #told: Entitlement | undefined;
  #more: Entitlement | undefined;
  #unleased: Entitlement | undefined;

  constructor(rules: MemberRules) {
    this.#rules = rules;
    this.#unleased = this.#unleasedOf(this.#state);
  }

  get standing(): Standing {
    return this.#state.standing;
  }

  /** Members of the pool at the last reply; 0 before the first. */
  get size(): number {
    return this.#state.size;
  }

  /** The share that the member would have if every hand-over were complete, in parts. */
  get fairParts(): number {
    return this.#state.fair;
  }

  /** How long no share grows, as of the last reply. */
  get learningMs(): number {
    return this.#state.learningMs;
  }

  /** When the last sync was sent that was answered. */
  get syncedAtMs(): number | undefined {
    return this.#state.syncedAtMs;
  }

  /** Until when the member holds its share, by its own clock. */
  get leaseUntilMs(): number {
    return this.#state.lease.untilMs;
  }

  isLeasedAt(nowMs: number): boolean {
    return nowMs < this.#state.lease.untilMs;
  }

  /** What may be used at this instant. Must be asked at every grant, after every wait. */
  entitlementAt(nowMs: number): Entitlement | undefined {
    const { lease } = this.#state;
    if (nowMs < lease.moreUntilMs) return this.#more;
    if (nowMs < lease.untilMs) return this.#told;
    return isWithoutStore(this.#state) ? this.#unleased : undefined;
  }

  /** What the member may be told at once by an empty store, in parts; 0 if it must not exceed its share. */
  get safeShare(): number {
    const { maxMembers, onStoreLoss, joinOn } = this.#rules;
    const isUsed = onStoreLoss !== "closed" || joinOn === "safe-share";
    return isUsed ? equalShare(Math.max(maxMembers, this.#state.size)) : 0;
  }

  /** A sync is sent: releases what was asked back, and answers what is still used. */
  onSend(nowMs: number): Held {
    const lease = release(this.#state.lease);
    const held = usableParts(lease, nowMs);
    const reportedUntilMs = held > 0 ? lease.untilMs : undefined;
    this.#state = { ...this.#state, lease, reportedUntilMs };
    if (nowMs < lease.untilMs || !isWithoutStore(this.#state))
      return { held, isHeldUnleased: false };
    return { held: partsOf(this.#unleased), isHeldUnleased: true };
  }

  /** The last sync, sent at `sentAtMs`, was answered. Replies to older syncs must not come here. */
  onReply(reply: SyncReply, sentAtMs: number, nowMs: number): readonly MembershipChange[] {
    if (reply.kind === "late") return [];
    const before = this.#state;
    // The store may have executed the sync after it had given the reported share to another member.
    const hasLapsed = before.reportedUntilMs !== undefined && nowMs >= before.reportedUntilMs;
    if (reply.kind === "told" && hasLapsed) return [];
    const after =
      reply.kind === "refused" ? refused(before) : this.#tell(before, reply, sentAtMs, nowMs);
    return this.#become(after, reply);
  }

  /** The last sync, sent at `sentAtMs`, has failed, or no reply has come in time. */
  onFailure(sentAtMs: number, nowMs: number): readonly MembershipChange[] {
    const { lease, standing, syncedAtMs } = this.#state;
    const { timeoutMs, syncIntervalMs, leaseMs } = this.#rules.timing;
    // The process was stopped, not the store: the store is asked before anything is used.
    const wasStopped = nowMs - sentAtMs > timeoutMs + syncIntervalMs;
    const hadLease = lease.untilMs > Number.NEGATIVE_INFINITY;
    const isSilent = syncedAtMs !== undefined && nowMs >= syncedAtMs + leaseMs;
    const isLost = (hadLease ? nowMs >= lease.untilMs : isSilent) && !wasStopped;
    const isChange = isLost && standing !== "refused" && standing !== "lost";
    const after = { ...this.#state, isFailing: !wasStopped };
    return this.#become(isChange ? { ...after, standing: "lost" } : after);
  }

  #tell(before: State, reply: Told, sentAtMs: number, nowMs: number): State {
    const { leaseMs } = this.#rules.timing;
    const lease = retell(before.lease, reply, { sentAtMs, nowMs, leaseMs });
    const hasArrived = reply.told > 0 && reply.told >= ARRIVED * reply.fair;
    const isBack = reply.told > 0 && (before.standing === "member" || before.standing === "lost");
    return {
      standing: hasArrived || isBack ? "member" : "joining",
      lease,
      size: reply.members,
      fair: reply.fair,
      rank: reply.rank,
      learningMs: reply.learningMs,
      syncedAtMs: sentAtMs,
      isFailing: false,
      reportedUntilMs: before.reportedUntilMs,
    };
  }

  #become(after: State, reply?: SyncReply): readonly MembershipChange[] {
    const before = this.#state;
    this.#state = after;
    const { lease, size } = after;
    this.#told = sameOr(this.#told, toldOf(after));
    this.#more = sameOr(this.#more, { kind: "parts", parts: lease.more });
    this.#unleased = sameOr(this.#unleased, this.#unleasedOf(after));
    const changes: MembershipChange[] = [];
    if (after.standing !== before.standing)
      changes.push({
        type: "standing",
        standing: after.standing,
        before: before.standing,
        reason: standingReason(before, after, reply),
      });
    if (reply?.kind !== "told") return changes;
    if (size !== before.size) changes.push({ type: "size", size, before: before.size });
    if (lease.told !== before.lease.told)
      changes.push({
        type: "share",
        parts: lease.told,
        before: before.lease.told,
        reason: reply.reason,
      });
    // A pool that begins has nothing to lose.
    if (after.learningMs > before.learningMs && before.syncedAtMs !== undefined)
      changes.push({ type: "learning", forMs: after.learningMs });
    return changes;
  }

  /** What a member uses whose lease has ended while the store does not answer. */
  #unleasedOf({ lease, size }: State): Entitlement | undefined {
    const { onStoreLoss, maxMembers } = this.#rules;
    if (onStoreLoss === "closed") return undefined;
    const safe = equalShare(Math.max(maxMembers, size));
    return { kind: "parts", parts: onStoreLoss === "open" ? Math.max(safe, lease.told) : safe };
  }
}

/** The seat where that is exact: the member has an equal share, and the ranks are settled. */
function toldOf({ lease, size, rank }: State): Entitlement | undefined {
  if (lease.told === 0) return undefined;
  if (rank === undefined || lease.told !== equalShare(size))
    return { kind: "parts", parts: lease.told };
  return { kind: "seat", seat: { poolSize: size, rank } };
}

/** Whether a lease that ends now leaves the member to the policy for a lost store. */
function isWithoutStore({ standing, isFailing, lease }: State): boolean {
  return standing === "lost" || (isFailing && lease.untilMs > Number.NEGATIVE_INFINITY);
}

/** A refused member's share belongs to another process or is free. */
function refused(before: State): State {
  return {
    ...before,
    standing: "refused",
    lease: NO_LEASE,
    fair: 0,
    rank: undefined,
    isFailing: false,
  };
}

function standingReason(
  before: State,
  after: State,
  reply: SyncReply | undefined,
): Extract<MembershipChange, { type: "standing" }>["reason"] {
  if (reply?.kind === "refused") return reply.why;
  if (after.standing === "lost") return "lease-ended";
  if (before.standing === "lost") return "store-back";
  if (before.standing === "refused") return "accepted";
  return after.standing === "member" ? "arrived" : "lease-ended";
}

function sameOr(
  kept: Entitlement | undefined,
  next: Entitlement | undefined,
): Entitlement | undefined {
  return isSame(kept, next) ? kept : next;
}

function isSame(a: Entitlement | undefined, b: Entitlement | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === "parts") return b.kind === "parts" && a.parts === b.parts;
  return b.kind === "seat" && a.seat.poolSize === b.seat.poolSize && a.seat.rank === b.seat.rank;
}

function partsOf(entitlement: Entitlement | undefined): number {
  if (entitlement === undefined) return 0;
  return entitlement.kind === "parts" ? entitlement.parts : PARTS / entitlement.seat.poolSize;
}
