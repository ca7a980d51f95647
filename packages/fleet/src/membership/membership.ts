import type { Seat } from "@sluice/core/internal";
import { PARTS } from "../store/pool-store.ts";
import type { DemandReport, SyncReply } from "../store/pool-store.ts";
import { HoldDown } from "./hold-down.ts";
import type { Timing } from "./timing.ts";

/**
 * `joining`: has a place, and waits until all agree on it. `member`: holds a lease on its share.
 * `lost`: its lease has ended and the store does not answer. `refused`: another process has its id.
 */
export type Standing = "joining" | "member" | "lost" | "refused";

/** What a member may use of the ceiling: the share of a seat, or parts of it; undefined: nothing. */
export type Entitlement =
  | { readonly kind: "seat"; readonly seat: Seat }
  | { readonly kind: "parts"; readonly parts: number };

export interface MembershipRules {
  readonly timing: Timing;
  /** For the share of those who have no lease: their part of the ceiling is one of so many. */
  readonly maxMembers: number;
  /** What a member that has lost the store goes on with. */
  readonly onStoreLoss: "safe-share" | "closed" | "open";
  /** What a newcomer has until all agree on its share. */
  readonly joinOn: "agreement" | "safe-share";
  readonly share: "equal" | "demand";
}

/** Something that changed, and why. */
export type MembershipChange =
  | {
      readonly type: "standing";
      readonly standing: Standing;
      readonly before: Standing;
      readonly reason:
        | "agreed"
        | "lease-ended"
        | "store-lost"
        | "store-back"
        | "id-taken"
        | "id-free";
    }
  | {
      readonly type: "size";
      readonly size: number;
      readonly before: number;
      readonly reason: "agreed" | "more-are-live";
    };

/** What the member says at its next sync. */
export interface MembershipReport {
  readonly size: number | undefined;
  readonly demand: DemandReport | undefined;
}

/**
 * One member's view of its pool, and the rules that keep all shares together within the ceiling.
 * It takes what happened and says what changed; it sends nothing and waits for nothing.
 *
 * A share grows only after the same members were seen at every sync for a whole lease, and all of
 * them agree. It shrinks at once. It is held under a lease, counted from when the confirming
 * sync was sent and looked at for every grant, so that a process that was stopped or cut off is out
 * before the others divide its share. A member never reports a size larger than the one it uses.
 */
export class Membership {
  readonly #rules: MembershipRules;
  readonly #holdDown: HoldDown;
  #safeShare: Entitlement;
  #standing: Standing = "joining";
  /** The size by which its share is divided; 0 before the first reply. */
  #used = 0;
  #reported: number | undefined;
  #rank = 0;
  /** Whether it goes with the size in use, and nobody else goes by it. */
  #isRankSure = false;
  /** What it may use under `demand`; 0 while it is no member. */
  #held = 0;
  #leaseUntilMs: number = Number.NEGATIVE_INFINITY;
  /** What it is entitled to under its lease, and goes on with if it may; the same object while nothing changes, for it is asked for at every grant. */
  #leased: Entitlement | undefined;
  /** Whether the store was lost since it last held a lease. */
  #hasLost = false;

  constructor(rules: MembershipRules) {
    this.#rules = rules;
    this.#holdDown = new HoldDown(rules.timing);
    this.#safeShare = oneOf(rules.maxMembers);
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The size that it divides by; 0 before the first reply. */
  get size(): number {
    return this.#used;
  }

  /** Whether what may be used at this instant is held under a lease. */
  isLeasedAt(nowMs: number): boolean {
    return this.#standing === "member" && nowMs < this.#leaseUntilMs;
  }

  /** Until when it holds its share, by its own clock. */
  get leaseUntilMs(): number {
    return this.#leaseUntilMs;
  }

  /** What to say at the next sync; `wanted` in parts of the ceiling. */
  report(wanted: number): MembershipReport {
    const demand =
      this.#rules.share === "demand"
        ? { entitled: this.#entitledParts, held: this.#held, wanted }
        : undefined;
    return { size: this.#reported, demand };
  }

  /**
   * What may be used at this instant. Must be asked for every grant, after every wait: a lease ends
   * without anybody being told.
   */
  entitlementAt(nowMs: number): Entitlement | undefined {
    const { joinOn, onStoreLoss } = this.#rules;
    switch (this.#standing) {
      case "member":
        return this.isLeasedAt(nowMs) ? this.#leased : undefined;
      case "joining":
        // What it had while the store was away it keeps until its share is agreed on again.
        if (this.#hasLost && onStoreLoss !== "closed") return this.#unleased;
        return joinOn === "safe-share" ? this.#safeShare : undefined;
      case "lost":
        return onStoreLoss === "closed" ? undefined : this.#unleased;
      case "refused":
        return undefined;
    }
  }

  /** A sync that was sent at `sentAtMs` was answered. Answers to older syncs must not come here. */
  onReply(reply: SyncReply, sentAtMs: number, nowMs: number): readonly MembershipChange[] {
    const changes: MembershipChange[] = [];
    this.#endLease(nowMs, changes);
    if (reply.kind === "refused") {
      this.#forget();
      this.#stand("refused", "id-taken", changes);
      return changes;
    }
    if (this.#standing === "refused") this.#stand("joining", "id-free", changes);
    if (this.#standing === "lost") this.#stand("joining", "store-back", changes);
    const { timing } = this.#rules;
    const isFresh = nowMs - sentAtMs < timing.leaseMs;
    const isHeldDown = this.#holdDown.onReply(reply.roster, sentAtMs, nowMs);
    const isMember = this.#standing === "member";
    if (reply.verdict === "agree") {
      this.#reported = reply.size;
      const mayTake = isHeldDown || (isMember && reply.size >= this.#used);
      if (isFresh && mayTake) {
        this.#use(reply.size, "agreed", changes);
        if (!isMember) this.#stand("member", "agreed", changes);
        this.#hasLost = false;
      } else this.#use(Math.max(this.#used, reply.size), "agreed", changes);
    } else {
      this.#use(Math.max(this.#used, reply.size, reply.live), "more-are-live", changes);
      this.#reported = reply.live;
    }
    if (this.#standing !== "member" || !isFresh) return changes;
    this.#leaseUntilMs = sentAtMs + timing.leaseMs;
    if (reply.live === this.#used) this.#takeRank(reply.rank, isHeldDown);
    this.#takeParts(reply.parts, isHeldDown);
    const entitlement = this.#entitle();
    if (!isSame(entitlement, this.#leased)) this.#leased = entitlement;
    return changes;
  }

  /** A sync that was sent at `sentAtMs` failed, or took too long. */
  onMiss(sentAtMs: number, nowMs: number): readonly MembershipChange[] {
    const changes: MembershipChange[] = [];
    this.#restart();
    this.#endLease(nowMs, changes);
    const { timeoutMs, syncIntervalMs } = this.#rules.timing;
    // It was this process that stopped, not the store: that is asked before anything is granted.
    const wasStopped = nowMs - sentAtMs > timeoutMs + syncIntervalMs;
    if (this.#standing === "joining" && this.#leased !== undefined && !wasStopped) {
      this.#hasLost = true;
      this.#stand("lost", "store-lost", changes);
    }
    return changes;
  }

  #entitle(): Entitlement {
    if (this.#rules.share === "demand") return { kind: "parts", parts: this.#held };
    if (!this.#isRankSure) return { kind: "parts", parts: this.#entitledParts };
    return { kind: "seat", seat: { poolSize: this.#used, rank: this.#rank } };
  }

  /** What it goes on with after the store was lost. */
  get #unleased(): Entitlement | undefined {
    if (this.#rules.onStoreLoss !== "open") return this.#safeShare;
    // By demand it may have been nothing just then.
    return partsOf(this.#leased) < partsOf(this.#safeShare) ? this.#safeShare : this.#leased;
  }

  get #entitledParts(): number {
    return this.#standing === "member" ? Math.floor(PARTS / this.#used) : 0;
  }

  /**
   * When one member goes and another comes, ranks move. Who had this one goes by it until its next
   * sync, or the end of its lease.
   */
  #takeRank(rank: number, isHeld: boolean): void {
    if (!isHeld) this.#isRankSure &&= rank === this.#rank;
    else {
      this.#rank = rank;
      this.#isRankSure = true;
    }
  }

  /** By demand a share may shrink at any time and grow only when a size could. */
  #takeParts(parts: number | undefined, isHeldDown: boolean): void {
    const told = parts ?? this.#entitledParts;
    this.#held = isHeldDown ? told : Math.min(told, this.#held);
  }

  #use(size: number, reason: "agreed" | "more-are-live", changes: MembershipChange[]): void {
    const before = this.#used;
    if (size === before) return;
    this.#used = size;
    this.#isRankSure = false;
    // Whoever has no lease must not go on with more than by what it knows: there may be more
    // members than the rules say, or than when it had one.
    this.#safeShare = oneOf(Math.max(size, this.#rules.maxMembers));
    const most = oneOf(size);
    if (this.#leased !== undefined && partsOf(this.#leased) > most.parts) this.#leased = most;
    changes.push({ type: "size", size, before, reason });
  }

  #endLease(nowMs: number, changes: MembershipChange[]): void {
    if (this.#standing !== "member" || nowMs < this.#leaseUntilMs) return;
    this.#restart();
    this.#held = 0;
    this.#stand("joining", "lease-ended", changes);
  }

  #restart(): void {
    this.#holdDown.restart();
  }

  #forget(): void {
    this.#restart();
    this.#held = 0;
    this.#reported = undefined;
    this.#used = 0;
    this.#isRankSure = false;
    this.#leased = undefined;
    this.#hasLost = false;
  }

  #stand(
    standing: Standing,
    reason: Extract<MembershipChange, { type: "standing" }>["reason"],
    changes: MembershipChange[],
  ): void {
    const before = this.#standing;
    if (standing === before) return;
    this.#standing = standing;
    changes.push({ type: "standing", standing, before, reason });
  }
}

function oneOf(size: number): { readonly kind: "parts"; readonly parts: number } {
  return { kind: "parts", parts: Math.floor(PARTS / size) };
}

function isSame(a: Entitlement, b: Entitlement | undefined): boolean {
  if (a.kind === "parts") return b?.kind === "parts" && a.parts === b.parts;
  return b?.kind === "seat" && a.seat.poolSize === b.seat.poolSize && a.seat.rank === b.seat.rank;
}

function partsOf(entitlement: Entitlement | undefined): number {
  if (entitlement === undefined) return 0;
  return entitlement.kind === "parts" ? entitlement.parts : PARTS / entitlement.seat.poolSize;
}
