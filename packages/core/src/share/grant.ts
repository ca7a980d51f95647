import { invariant } from "../errors.ts";
import type { Reason } from "../reason.ts";

/**
 * Tokens acquired at once. What was not used goes back through the grant it came from, and never
 * more than that, so no deposit can mint tokens.
 */
export class Grant {
  /** Tokens granted: at most what was asked for, and final. */
  readonly count: number;
  /** Why it is less than was asked for. */
  readonly reason: Reason | undefined;
  readonly #takeBack: (count: number) => void;
  #outstanding: number;

  constructor(count: number, reason: Reason | undefined, takeBack: (count: number) => void) {
    this.count = count;
    this.reason = reason;
    this.#takeBack = takeBack;
    this.#outstanding = count;
  }

  /**
   * Gives back tokens that were not used, or whose messages were dropped; may be called again for
   * the rest. Returns how many went back. They can be acquired again within their epoch, and count
   * as unused when it is judged; after that they are gone.
   */
  deposit(unused: number): number {
    invariant(unused >= 0 && Number.isInteger(unused), "a deposit is a whole number of tokens");
    const count = Math.min(unused, this.#outstanding);
    this.#outstanding -= count;
    this.#takeBack(count);
    return count;
  }
}
