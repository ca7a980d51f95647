import type { Reason } from "@sluice/core";
import { Grant } from "@sluice/core/internal";
import type { TakeBack } from "@sluice/core/internal";
import type { EpochClock } from "../pacing/epoch-clock.ts";
import type { Pacing } from "../pacing/pacing.ts";
import type { Tally } from "./counts.ts";
import type { ShareSource } from "./share-source.ts";
import type { Ask } from "./waiter-queue.ts";

export interface GrantsOptions {
  readonly pacing: Pacing;
  readonly epochClock: EpochClock;
  readonly share: ShareSource;
  readonly tally: Tally;
  /** Tokens came back. */
  readonly onDeposit: () => void;
}

/**
 * The shortest pause told while tokens are missing, ms. Differences of large times can round to 0,
 * and a pause of 0 would let a caller ask in a loop.
 */
const PAUSE_MIN_MS = 0.01;

/** Makes grants of what the pacing has, counts them, and takes deposits. */
export class Grants {
  readonly #options: GrantsOptions;
  #pacingTakeBack: Pacing["takeBack"] | undefined;
  #takeBack: TakeBack = () => {};
  #isClosed = false;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /** Nothing is granted from now on. */
  close(): void {
    this.#isClosed = true;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A grant, if what the ask needs is there. What a partial grant lacks is refused. */
  tryGrant({ count, isPartial }: Ask, nowMs: number): Grant | undefined {
    if (!isPartial || count === 0)
      return this.tryTake(count, nowMs) ? this.#grant(count, undefined) : undefined;
    if (this.#isClosed) return undefined;
    const { pacing, share, epochClock } = this.#options;
    const granted = pacing.take(count, epochClock.at(nowMs), share.entitlementAt(nowMs));
    if (granted === 0) return undefined;
    this.#onGranted(granted, nowMs);
    share.demand?.onRequested(granted);
    if (granted === count) return this.#grant(granted, undefined);
    // How much of the rest would have been used is not known.
    share.demand?.onShort();
    return this.#grant(granted, this.refuse(count - granted));
  }

  /**
   * Takes all of `count` or nothing. A count above `countMax` needs only `countMax` tokens to be
   * there; the rest is missing from what comes next.
   */
  tryTake(count: number, nowMs: number): boolean {
    if (this.#isClosed) return false;
    const { pacing, share, epochClock } = this.#options;
    const left = pacing.leftAt(epochClock.at(nowMs), share.entitlementAt(nowMs));
    if (left < Math.min(count, pacing.countMax)) return false;
    pacing.spend(count);
    this.#onGranted(count, nowMs);
    return true;
  }

  /** Tokens that are there. */
  left(nowMs: number): number {
    if (this.#isClosed) return 0;
    const { pacing, share, epochClock } = this.#options;
    return pacing.leftAt(epochClock.at(nowMs), share.entitlementAt(nowMs));
  }

  /** Takes `count` tokens, whether they are there or not; what is missing is missing from what comes next. */
  charge(count: number, nowMs: number): void {
    // Brings the tokens that are due first.
    this.left(nowMs);
    this.#options.pacing.spend(count);
    this.#onGranted(count, nowMs);
  }

  /** Takes back tokens of a gate's call that cost less than was taken; at most what that call took. */
  giveBack(count: number, nowMs: number): void {
    // Brings the tokens that are due first.
    this.left(nowMs);
    const { pacing, tally, share } = this.#options;
    pacing.takeBack(count);
    tally.deposited += count;
    share.demand?.onDeposited(count);
  }

  /** Counts tokens that were asked for, are not granted and no longer waited for. */
  refuse(count: number): Reason {
    const { share, tally } = this.#options;
    const { reason } = share;
    tally.refused += count;
    tally.refusedBy[reason] = (tally.refusedBy[reason] ?? 0) + count;
    return reason;
  }

  /** How long until `count` tokens have come; 0 if they are there, undefined if none are in sight. */
  pauseMs(count: number, nowMs: number): number | undefined {
    if (this.#isClosed) return undefined;
    const { pacing, share, epochClock } = this.#options;
    const entitlement = share.entitlementAt(nowMs);
    const atMs = epochClock.at(nowMs);
    const readyAtMs = pacing.readyAtMs(count, atMs, entitlement);
    if (readyAtMs === undefined) return undefined;
    return pacing.leftAt(atMs, entitlement) >= count ? 0 : Math.max(PAUSE_MIN_MS, readyAtMs - atMs);
  }

  /** Tokens that must be there before the ask is granted. */
  needed({ count, isPartial }: Ask): number {
    return isPartial ? Math.min(1, count) : Math.min(count, this.#options.pacing.countMax);
  }

  #onGranted(count: number, nowMs: number): void {
    const { share, tally } = this.#options;
    tally.granted += count;
    if (!share.isLeasedAt(nowMs)) tally.grantedUnleased += count;
  }

  #grant(count: number, reason: Reason | undefined): Grant {
    const { takeBack } = this.#options.pacing;
    // The pacing has one for all tokens of a slot or an epoch: so has this.
    if (takeBack !== this.#pacingTakeBack) {
      this.#pacingTakeBack = takeBack;
      this.#takeBack = (deposited, kind) => {
        const { tally, share, onDeposit } = this.#options;
        takeBack(deposited);
        tally[kind === "dropped" ? "refunded" : "deposited"] += deposited;
        share.demand?.onDeposited(deposited);
        onDeposit();
      };
    }
    return new Grant(count, reason, this.#takeBack);
  }
}
