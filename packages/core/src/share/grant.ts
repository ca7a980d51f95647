import { requireCount } from "../errors.ts";
import type { Reason } from "../reason.ts";

/** Why tokens come back: they were not needed, or the message they were taken for was dropped. */
export type DepositKind = "unused" | "dropped";

/** Tokens that go back, by cause. Both causes free the same tokens, but are counted apart. */
export interface Deposit {
  /** @default 0 */
  readonly unused?: number;
  /**
   * Tokens of messages that were dropped before they were sent.
   * @default 0
   */
  readonly dropped?: number;
}

/** How the issuer of a grant gets tokens back; never called with a count of 0. */
export type TakeBack = (count: number, kind: DepositKind) => void;

/**
 * Tokens acquired in one call. Unused tokens go back through their grant, and never more than it
 * granted, so no deposit can mint tokens.
 *
 * @example
 * const grant = await limiter.acquireUpTo(100);
 * const messages = await read(grant.count);
 * grant.deposit({ unused: grant.count - messages.length });
 */
export class Grant {
  /** Tokens granted, at most as many as were asked for. Does not change. */
  readonly count: number;
  /** Why `count` is less than was asked for; `undefined` if it is not. */
  readonly reason: Reason | undefined;
  readonly #takeBack: TakeBack;
  #outstanding: number;

  constructor(count: number, reason: Reason | undefined, takeBack: TakeBack) {
    this.count = count;
    this.reason = reason;
    this.#takeBack = takeBack;
    this.#outstanding = count;
  }

  /**
   * Gives back tokens that were not used, or whose messages were dropped; may be called again for
   * the rest. Answers how many went back, the unused ones first. Within their epoch they can be
   * acquired again and count as unused when the epoch is judged; later deposits have no effect.
   */
  deposit(tokens: number | Deposit): number {
    if (typeof tokens === "number") {
      requireCount("tokens of Grant.deposit", tokens);
      return this.#giveBack(tokens, "unused");
    }
    const { unused = 0, dropped = 0 } = tokens;
    requireCount("unused of Grant.deposit", unused);
    requireCount("dropped of Grant.deposit", dropped);
    return this.#giveBack(unused, "unused") + this.#giveBack(dropped, "dropped");
  }

  #giveBack(tokens: number, kind: DepositKind): number {
    const count = Math.min(tokens, this.#outstanding);
    if (count === 0) return 0;
    this.#outstanding -= count;
    this.#takeBack(count, kind);
    return count;
  }
}
