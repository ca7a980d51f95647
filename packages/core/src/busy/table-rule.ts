import { moved, requireRecovery } from "./busy-rule.ts";
import type { BusyRule, Recovery } from "./busy-rule.ts";

/** Halvings in one second; more busy answers than this cut no deeper. */
const HALVINGS_MAX = 20;

/**
 * The rule behind the tables that TChannel's document prints: the limit grows every second, busy
 * or not, by `rate` times itself (so a rate of 3 makes four of one) or by `value`; then it is
 * halved once for every busy answer.
 *
 * Two busy answers a second are free at rate 3, a burst costs ten seconds of growth, and the
 * longer the overload, the shorter the recovery: use it to reproduce the document.
 */
export function tableRule(recovery: Recovery): BusyRule {
  requireRecovery(recovery);
  return (limit, { busy }) => {
    const grown = limit + ("rate" in recovery ? recovery.rate * limit : recovery.value);
    return moved(limit, grown / 2 ** Math.min(busy, HALVINGS_MAX));
  };
}
