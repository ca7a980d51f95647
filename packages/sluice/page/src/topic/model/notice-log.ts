import type { LiveNotice } from "../../../../src/live/live-message.ts";
import { countedText, countText, durationText } from "../../words/numbers.ts";
import { strong } from "../../words/phrase.ts";
import type { Phrase } from "../../words/phrase.ts";

export const NOTICES_MS = 300_000;
/** Notices that are kept; a flow with more shows the newest. */
const NOTICES_MAX = 2_000;
/** Without a receipt after this long the gateway holds frames (`throttleProducerReceiptWaitTimeMillis`), ms. */
export const RECEIPT_WAIT_MS = 100;

/** The notices of the last five minutes, oldest first. */
export function withNotices(
  known: readonly LiveNotice[],
  more: readonly LiveNotice[],
  nowMs: number,
): readonly LiveNotice[] {
  const seen = new Map(
    [...known, ...more].map((notice) => [`${notice.atMs} ${notice.producer}`, notice]),
  );
  return [...seen.values()]
    .filter(({ atMs }) => atMs > nowMs - NOTICES_MS)
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(-NOTICES_MAX);
}

export function noticeWords(notices: readonly LiveNotice[]): Phrase {
  if (notices.length === 0) return ["No notice was needed."];
  const clients = new Set(notices.map(({ producer }) => producer)).size;
  const receipts = notices.flatMap(({ receiptAfterMs }) => receiptAfterMs ?? []);
  const late = receipts.filter((ms) => ms > RECEIPT_WAIT_MS).length;
  const missing = notices.length - receipts.length;
  const mean = receipts.reduce((sum, ms) => sum + ms, 0) / receipts.length;
  return [
    strong(countedText(notices.length, "notice")),
    ` to ${countedText(clients, "aware producer")}, `,
    strong(countedText(receipts.length, "receipt")),
    receipts.length === 0 ? "" : ` after ${durationText(mean)} on average`,
    late === 0 && missing === 0
      ? ", none late."
      : `, ${countText(late)} late, ${countText(missing)} missing.`,
  ];
}
