import { ConfigError, requireKnownKeys } from "../errors.ts";
import type { Clock } from "../time.ts";
import type { BusyThrottle } from "./busy-throttle.ts";
import { proseRule } from "./per-second/prose-rule.ts";
import type { Recovery } from "./per-second/recovery.ts";
import { tableRule } from "./per-second/table-rule.ts";
import { PerSecondBusyThrottle } from "./per-second/throttle.ts";
import { SluiceBusyThrottle } from "./sluice/throttle.ts";

/**
 * `sluice` is ours and the one to use. `table` and `prose` reproduce TChannel's document: the rule of its
 * tables and the one of its text.
 */
export type BusyRuleName = "sluice" | "table" | "prose";

export interface BusyThrottleOptions {
  /** @default "sluice" */
  readonly rule?: BusyRuleName;
  /**
   * How a limit grows each second under `table` and `prose`: `{ factor: 3 }` triples it under either
   * rule, `{ value: 200 }` adds 200 requests per second. A factor of 1 or less, or a value of 0, is
   * refused: the limit would never recover. `sluice` takes none; it finds out by itself.
   *
   * @default { factor: 4 } under `table`, { factor: 3 } under `prose`: what the document calls rate 3
   */
  readonly recover?: Recovery;
  /**
   * Where instants come from.
   *
   * @default the monotonic clock of the system
   */
  readonly clock?: Clock;
}

const KEYS: ReadonlySet<string> = new Set([
  "rule",
  "recover",
  "clock",
] satisfies (keyof BusyThrottleOptions)[]);

/**
 * A throttle for one peer; every client of that peer in this process should share it.
 *
 * @example
 * const throttle = createBusyThrottle();
 * if (!throttle.trySend()) throw new Error(`busy; try again in ${throttle.pauseMs()} ms`);
 * const sentAtMs = performance.now();
 * const response = await fetch(url);
 * throttle.onAnswer(sentAtMs, response.status === 429 || response.status === 503);
 */
export function createBusyThrottle(options: BusyThrottleOptions = {}): BusyThrottle {
  requireKnownKeys("a busy throttle", options, KEYS);
  const { rule = "sluice", recover, clock } = options;
  const withClock = clock === undefined ? {} : { clock };
  switch (rule) {
    case "sluice":
      if (recover !== undefined)
        throw new ConfigError(
          `recover is set, but rule "sluice" finds its own growth; leave recover out, or use rule "table" or "prose"`,
        );
      return new SluiceBusyThrottle(withClock);
    case "table":
      return new PerSecondBusyThrottle({ rule: tableRule(recover ?? { factor: 4 }), ...withClock });
    case "prose":
      return new PerSecondBusyThrottle({ rule: proseRule(recover ?? { factor: 3 }), ...withClock });
    default:
      throw new ConfigError(`rule is "${String(rule)}"; it must be "sluice", "table" or "prose"`);
  }
}
