import { invariant, requireWhole } from "../errors.ts";
import type { Usage } from "../ramp/mode.ts";
import type { Reason } from "../reason.ts";
import { Grant } from "./grant.ts";
import type { TakeBack } from "./grant.ts";
import { shareOf } from "./share.ts";
import type { Division, Seat } from "./share.ts";

/**
 * One member's tokens of one epoch: its share of the ceiling, what it took and what came back.
 *
 * A member does not see the others. When the pool changes its size within the epoch, it takes it
 * that they did as it did, and divides anew what is then left of the ceiling.
 */
export class EpochAccount {
  readonly #epoch: number;
  readonly #division: Division;
  readonly #takeBack: TakeBack;
  #seat: Seat;
  /** Tokens of the whole pool that were there to divide when it got its present size. */
  #divided: number;
  #share: number;
  /** Out of the present share; negative if more came back from an earlier one. */
  #taken = 0;
  /** In the whole epoch. */
  #used = 0;

  /** `onReturn` hears of what comes back, for as long as there are grants. */
  constructor(ceiling: number, seat: Seat, epoch: number, division: Division, onReturn?: TakeBack) {
    requireWhole("ceiling", ceiling, 0);
    requireSeat(seat);
    this.#epoch = epoch;
    this.#division = division;
    this.#seat = seat;
    this.#divided = ceiling;
    this.#share = shareOf(ceiling, seat, epoch, division);
    this.#takeBack = (count, kind) => {
      this.#taken -= count;
      this.#used -= count;
      onReturn?.(count, kind);
    };
  }

  /** Tokens this member may still take. */
  get left(): number {
    return this.#share - this.#taken;
  }

  /** What the ramp judges the epoch by, as far as this member goes. */
  get usage(): Usage {
    return { used: this.#used, unused: this.left };
  }

  /** Takes `ask` tokens, or as many of them as are left; `refusal` is why it may be less. */
  acquire(ask: number, refusal: Reason = "fleet-share"): Grant {
    invariant(ask === Infinity || Number.isInteger(ask), "an ask is whole, or Infinity for all");
    invariant(ask >= 0, "an ask is not negative");
    const count = Math.min(ask, this.left);
    this.#taken += count;
    this.#used += count;
    return new Grant(count, count < ask ? refusal : undefined, this.#takeBack);
  }

  /**
   * The pool has another size, or this member another rank, from now on. `left` is what then
   * remains of the ceiling; a member that does not know it leaves it out.
   */
  resize(seat: Seat, left: number = this.#divided - this.#takenByAll()): void {
    requireSeat(seat);
    requireWhole("left", left, 0);
    this.#divided = left;
    this.#seat = seat;
    this.#taken = 0;
    this.#share = shareOf(this.#divided, seat, this.#epoch, this.#division);
  }

  #takenByAll(): number {
    if (this.#taken < 0) return this.#taken;
    const { poolSize } = this.#seat;
    // Rotation may have given others one more than this member, and they may have taken it.
    const isBehind = this.#division === "rotate" && this.#share * poolSize < this.#divided;
    const ahead = isBehind ? this.#divided % poolSize : 0;
    return Math.min(this.#divided, this.#taken * poolSize + ahead);
  }
}

function requireSeat({ poolSize, rank }: Seat): void {
  requireWhole("poolSize", poolSize, 1);
  requireWhole("rank", rank, 0, poolSize - 1);
}
