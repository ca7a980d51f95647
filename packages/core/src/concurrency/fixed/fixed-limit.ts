import { requireWhole } from "../../errors.ts";
import type { LimitAlgorithm } from "../algorithm.ts";

/**
 * A limit that is set, not found. Measures nothing and decides nothing.
 *
 * @example
 * const limit = new FixedLimit(10);
 * const limiter = new ConcurrencyLimiter(limit);
 * limit.setLimit(20);
 * limiter.handOver();
 */
export class FixedLimit implements LimitAlgorithm {
  #limit = 1;

  constructor(limit: number) {
    this.setLimit(limit);
  }

  get limit(): number {
    return this.#limit;
  }

  /**
   * Changes the limit for what starts from now on. Permits that are out stay out; a raised limit
   * reaches waiters with the limiter's next `handOver` or the next permit that ends.
   */
  setLimit(limit: number): void {
    requireWhole("limit", limit, 1);
    this.#limit = limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(): void {
    // A fixed limit depends on nothing that happens.
  }

  onEnd(): undefined {
    // Nor on how it ends.
  }
}
