import { grown, requireRecovery } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { DOCUMENT_LIMIT_MAX, moved } from "./rule.ts";
import type { BusyRule } from "./rule.ts";

/**
 * The rule that the text of TChannel's document describes. A second with busy answers sets the limit to
 * half of what was sent in it, however many they were; a second without lets it grow:
 *
 *     limit = busy > 0 ? sent ÷ 2 : min(9,999,999, grown(limit))
 *
 * For reproducing the document, not for production: a peer that is busy in every third second is hardly
 * throttled.
 */
export function proseRule(recover: Recovery): BusyRule {
  requireRecovery(recover);
  return (limit = DOCUMENT_LIMIT_MAX, { sent, busy }) =>
    moved(limit, busy > 0 ? sent / 2 : grown(limit, recover));
}
