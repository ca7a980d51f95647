import { shareOf } from "@sluice/core/internal";
import type { Division } from "@sluice/core/internal";
import type { Entitlement } from "../member/membership.ts";
import type { Ceiling } from "../limiter/ceiling.ts";
import { EPOCH_MS, exactShare } from "./pacing.ts";
import type { Glance, Pacing, TakeTokensBack } from "./pacing.ts";
import { EpochClock } from "./epoch-clock.ts";

/**
 * Hands out the whole share at the start of every epoch, as Numaflow does. A sliding second that spans
 * two epochs may see the shares of both.
 *
 * Within an epoch a share may shrink but not grow: another member may already have used the difference.
 * Shares of seats add up to the ceiling. A share in parts carries the fraction of a token that is left
 * over to the next epoch, so that shares below one token a second flow too; an epoch may see one
 * token more of such a share.
 */
export class EpochPacing implements Pacing {
  readonly #ceiling: Ceiling;
  readonly #division: Division;
  readonly #time: EpochClock;
  #entitlement: Entitlement | undefined;
  /** The ceiling that was divided last. */
  #divided = 0;
  #share = 0;
  #taken = 0;
  /** Tokens that calls took beyond the share; missing from the epochs that follow. */
  #debt = 0;
  /** The fraction of a token left over by the last shares in parts. */
  #carried = 0;
  #takeBack: TakeTokensBack = () => {};

  constructor(ceiling: Ceiling, division: Division, time: EpochClock = new EpochClock()) {
    this.#ceiling = ceiling;
    this.#division = division;
    this.#time = time;
  }

  get takeBack(): TakeTokensBack {
    return this.#takeBack;
  }

  get countMax(): number {
    const exact = exactShare(this.#ceiling.now, this.#entitlement);
    return Math.max(1, this.#division === "floor" ? Math.floor(exact) : Math.ceil(exact));
  }

  take(ask: number, atMs: number, entitlement: Entitlement | undefined): number {
    const count = Math.min(ask, this.leftAt(atMs, entitlement));
    this.spend(count);
    return count;
  }

  spend(count: number): void {
    const over = Math.max(0, count - Math.max(0, this.#share - this.#taken));
    this.#taken += count - over;
    this.#debt += over;
  }

  leftAt(atMs: number, entitlement: Entitlement | undefined): number {
    if (this.#ceiling.isDue(atMs)) this.#begin(atMs, entitlement);
    else if (entitlement !== this.#entitlement || this.#ceiling.now !== this.#divided)
      this.#change(entitlement);
    return Math.max(0, this.#share - this.#taken);
  }

  readyAtMs(count: number, atMs: number, entitlement: Entitlement | undefined): number | undefined {
    if (this.leftAt(atMs, entitlement) >= count) return atMs;
    if (entitlement === undefined) return undefined;
    const exact = exactShare(this.#ceiling.now, entitlement);
    // A share below one token brings a token in some of the next epochs: look at each of them.
    const epochs = exact < 1 ? 1 : Math.ceil((count + this.#debt) / exact);
    return this.#ceiling.endMs + (epochs - 1) * EPOCH_MS;
  }

  glance(atMs: number, entitlement: Entitlement | undefined): Glance {
    const share = exactShare(this.#ceiling.shown, entitlement);
    if (this.#ceiling.isDue(atMs)) return { share, left: Math.floor(share) };
    const left = Math.max(0, Math.min(this.#share, Math.ceil(share)) - this.#taken);
    return { share, left };
  }

  #begin(atMs: number, entitlement: Entitlement | undefined): void {
    const last = this.#ceiling.epoch;
    // A share that shrank may be smaller than what was taken before.
    const used = Math.min(this.#taken, this.#share);
    this.#ceiling.enter(atMs, { used, unused: this.#share - used });
    const epoch = this.#ceiling.epoch ?? 0;
    const missed = last === undefined ? 0 : epoch - last - 1;
    this.#debt = Math.max(0, this.#debt - this.#share * missed);
    this.#entitlement = entitlement;
    this.#share = this.#divide(entitlement);
    this.#taken = Math.min(this.#debt, this.#share);
    this.#debt -= this.#taken;
    this.#takeBack = (count) => {
      if (this.#ceiling.epoch !== epoch) return;
      const paid = Math.min(count, this.#debt);
      this.#debt -= paid;
      // A gate may give back tokens that were taken in an earlier epoch.
      this.#taken = Math.max(0, this.#taken - (count - paid));
    };
    this.#ceiling.tell();
  }

  #change(entitlement: Entitlement | undefined): void {
    const hadNone = this.#entitlement === undefined;
    this.#entitlement = entitlement;
    const share = this.#divide(entitlement);
    this.#share = hadNone && this.#taken === 0 ? share : Math.min(this.#share, share);
  }

  #divide(entitlement: Entitlement | undefined): number {
    const ceiling = this.#ceiling.now;
    this.#divided = ceiling;
    const turn = (this.#ceiling.epoch ?? 0) + this.#time.turnOffset;
    if (entitlement?.kind === "seat")
      return shareOf(ceiling, entitlement.seat, turn, this.#division);
    const exact = exactShare(ceiling, entitlement) + this.#carried;
    const share = Math.floor(exact);
    this.#carried = entitlement === undefined || this.#division === "floor" ? 0 : exact - share;
    return share;
  }
}
