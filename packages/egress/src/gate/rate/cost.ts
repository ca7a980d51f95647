import { ConfigError } from "@sluice/core";
import { requireWhole } from "@sluice/core/internal";

/** What a call takes of the rates of a gate, by their names, in whole tokens: `{ tokens: 1200 }`. */
export type Cost = Readonly<Record<string, number>>;

/** The largest cost of one call: sums over the largest queue stay exact. */
const COST_MAX = 100_000_000;

/** Callers without types may pass anything. */
function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Refuses a cost that is not whole tokens of known rates. */
export function requireCost(cost: Cost, names: readonly string[]): void {
  if (!isObject(cost))
    throw new ConfigError(`cost is ${JSON.stringify(cost)}; write it as { tokens: 1200 }`);
  for (const name in cost) {
    if (!names.includes(name)) {
      const known = names.length === 0 ? "none: set rates" : names.join(", ");
      throw new ConfigError(`cost names the rate "${name}"; the gate has ${known}`);
    }
    requireWhole(`cost.${name}`, cost[name] as number, 0, COST_MAX);
  }
}
