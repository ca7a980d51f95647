import { invariant } from "../errors.ts";
import type { Reason } from "../reason.ts";

/** Why tokens come back: they were not needed, or what they were for was dropped. */
export type DepositKind = "unused" | "dropped";

/** What goes back, told apart: both come back alike, but are counted as two things. */
export interface Deposit {
  readonly unused?: number;
  /** Tokens of messages that were dropped, and so cost nobody anything. */
  readonly dropped?: number;
}

/** How the issuer of a grant gets tokens back; never called for none. */
export type TakeBack = (count: number, kind: DepositKind) => void;

/**
 * Tokens acquired at once. What was not used goes back through the grant it came from, and never
 * more than that, so no deposit can mint tokens.
 */
export class Grant {
  /** Tokens granted: at most what was asked for, and final. */
  readonly count: number;
  /** Why it is less than was asked for. */
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
   * the rest. Returns how many went back, the unused ones first. They can be acquired again within
   * their epoch, and count as unused when it is judged; after that they are gone.
   */
  deposit(tokens: number | Deposit): number {
    if (typeof tokens === "number") {
      requireTokens(tokens);
      return this.#giveBack(tokens, "unused");
    }
    const { unused = 0, dropped = 0 } = tokens;
    requireTokens(unused);
    requireTokens(dropped);
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

function requireTokens(tokens: number): void {
  invariant(tokens >= 0 && Number.isInteger(tokens), "a deposit is a whole number of tokens");
}
