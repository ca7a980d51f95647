import { moved, requireRecovery } from "./busy-rule.ts";
import type { BusyRule, Recovery } from "./busy-rule.ts";

/**
 * The rule that the text of TChannel's document tells: a second with a busy answer sets the limit
 * to half of what was sent, however many there were; a second without lets it grow to `rate` times
 * itself, or by `value`.
 */
export function proseRule(recovery: Recovery): BusyRule {
  requireRecovery(recovery);
  return (limit, { sent, busy }) => {
    if (busy > 0) return moved(limit, sent / 2);
    return moved(limit, "rate" in recovery ? recovery.rate * limit : limit + recovery.value);
  };
}
