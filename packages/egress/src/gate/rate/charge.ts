import { requireCost } from "./cost.ts";
import type { Cost } from "./cost.ts";
import type { Costs, Rates } from "./rates.ts";

/** What one attempt was charged. Settling sets the cost: what was charged before is corrected to it. */
export class Charge {
  readonly #rates: Rates;
  #costs: Costs;

  constructor(rates: Rates, costs: Costs) {
    this.#rates = rates;
    this.#costs = costs;
  }

  /** Corrects the cost at the rates that `cost` names; whether tokens came back. */
  settle(cost: Cost, nowMs: number): boolean {
    requireCost(cost, this.#rates.names);
    let gaveBack = false;
    this.#costs = this.#costs.map((charged, i) => {
      const actual = cost[this.#rates.names[i] as string] ?? charged;
      this.#rates.adjust(i, actual - charged, nowMs);
      gaveBack ||= actual < charged;
      return actual;
    });
    return gaveBack;
  }
}
