import type { Clock } from "../time.ts";
import type { Recovery } from "./busy-rule.ts";
import type { BusyThrottle } from "./busy-throttle.ts";
import { PerSecondBusyThrottle } from "./per-second-throttle.ts";
import { ProbingBusyThrottle } from "./probing-throttle.ts";
import { proseRule } from "./prose-rule.ts";
import { tableRule } from "./table-rule.ts";

/** `sluice` is ours and the one to use; the others are what TChannel's document prints and says. */
export type BusyRuleName = "sluice" | "table" | "prose";

export interface BusyThrottleOptions {
  /** `sluice` unless given. */
  readonly rule?: BusyRuleName;
  /** How `table` and `prose` grow a limit; `{ rate: 3 }` unless given. `sluice` needs none. */
  readonly recover?: Recovery;
}

export function createBusyThrottle(clock: Clock, options: BusyThrottleOptions = {}): BusyThrottle {
  const { rule = "sluice", recover = { rate: 3 } } = options;
  if (rule === "sluice") return new ProbingBusyThrottle(clock);
  return new PerSecondBusyThrottle(
    clock,
    rule === "table" ? tableRule(recover) : proseRule(recover),
  );
}
