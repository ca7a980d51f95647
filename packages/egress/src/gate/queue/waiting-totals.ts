import type { Call } from "../options/call-options.ts";
import type { Costs } from "../rate/rates.ts";

/** Sums over all waiters of a queue: their weight, and their cost at each rate. */
export class WaitingTotals {
  readonly #costs: number[];
  #weight = 0;

  constructor(rates: number) {
    this.#costs = Array.from({ length: rates }, () => 0);
  }

  get weight(): number {
    return this.#weight;
  }

  get costs(): Costs {
    return this.#costs;
  }

  add(call: Call): void {
    this.#count(call, 1);
  }

  remove(call: Call): void {
    this.#count(call, -1);
  }

  #count({ weight, costs }: Call, sign: 1 | -1): void {
    this.#weight += sign * weight;
    for (let i = 0; i < this.#costs.length; i++)
      this.#costs[i] = (this.#costs[i] ?? 0) + sign * (costs[i] ?? 0);
  }
}
