import { grown, requireRecovery } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { DOCUMENT_LIMIT_MAX, moved } from "./rule.ts";
import type { BusyRule } from "./rule.ts";

/**
 * Halvings in one second at most; further busy answers in it cut no deeper. Raised, a burst costs more
 * seconds of recovery. From TChannel's program: its tables come out with 20 only.
 */
const HALVINGS_MAX = 20;

/**
 * The rule behind the tables that TChannel's document prints. The limit grows every second, busy or not,
 * and is then halved once per busy answer:
 *
 *     limit = min(9,999,999, grown(limit) ÷ 2^min(busy, 20))
 *
 * For reproducing the document, not for production: with a factor of 4 two busy answers per second cost
 * nothing, a burst costs ten seconds of growth, and a longer overload is recovered from sooner.
 */
export function tableRule(recover: Recovery): BusyRule {
  requireRecovery(recover);
  return (limit = DOCUMENT_LIMIT_MAX, { busy }) =>
    moved(limit, grown(limit, recover) / 2 ** Math.min(busy, HALVINGS_MAX));
}
