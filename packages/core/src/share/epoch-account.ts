import { COUNT_MAX, invariant, requireWhole } from "../errors.ts";
import type { Usage } from "../ramp/mode.ts";
import type { Reason } from "../reason.ts";
import { Grant } from "./grant.ts";
import type { TakeBack } from "./grant.ts";
import { shareOf } from "./share.ts";
import type { Division, Seat } from "./share.ts";

export interface EpochAccountOptions {
  /** Tokens that the whole pool may use in this epoch. */
  readonly ceiling: number;
  readonly seat: Seat;
  /** The number of the epoch, in seconds; `rotate` hands out the remainder by it. */
  readonly epoch: number;
  readonly division: Division;
  /** Called for every deposit, as long as there are grants. Default: deposits are not reported. */
  readonly onReturn?: TakeBack;
}

/**
 * One member's tokens of one epoch: its share of the ceiling, what it took and what came back.
 *
 * A member does not see the others. When the pool changes its size within the epoch, the member
 * assumes that each of them took as much as it did, and divides what is then left of the ceiling.
 */
export class EpochAccount {
  readonly #epoch: number;
  readonly #division: Division;
  readonly #takeBack: TakeBack;
  #seat: Seat;
  /** Tokens that the whole pool had to divide when it got its present size. */
  #divided: number;
  #share: number;
  /** Taken from the present share; negative if more came back from an earlier one. */
  #taken = 0;
  /** Taken in the whole epoch and not given back. */
  #used = 0;

  constructor({ ceiling, seat, epoch, division, onReturn }: EpochAccountOptions) {
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

  /** This member's part of the usage by which the ramp judges the epoch. */
  get usage(): Usage {
    return { used: this.#used, unused: this.left };
  }

  /** Takes `ask` tokens, or as many of them as are left; `refusal` is the reason if it is fewer. */
  acquire(ask: number, refusal: Reason = "fleet-share"): Grant {
    invariant(
      ask >= 0 && (ask === Infinity || Number.isInteger(ask)),
      `ask of EpochAccount.acquire is ${ask}; use a whole number from 0 to ${COUNT_MAX}, or Infinity for all`,
    );
    const count = Math.min(ask, this.left);
    this.#taken += count;
    this.#used += count;
    return new Grant(count, count < ask ? refusal : undefined, this.#takeBack);
  }

  /**
   * Sets another pool size or rank from now on. `left` is what remains of the ceiling; by default it
   * is estimated from what this member took.
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
    // Rotation may have given other members one token more, and they may have taken it.
    const isBehind = this.#division === "rotate" && this.#share * poolSize < this.#divided;
    const ahead = isBehind ? this.#divided % poolSize : 0;
    return Math.min(this.#divided, this.#taken * poolSize + ahead);
  }
}

function requireSeat({ poolSize, rank }: Seat): void {
  requireWhole("poolSize", poolSize, 1);
  requireWhole("rank", rank, 0, poolSize - 1);
}
