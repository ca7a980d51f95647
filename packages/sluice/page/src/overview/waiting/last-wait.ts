import type { LiveSample } from "../../../../src/live/live-message.ts";
import { clockTime } from "../../words/clock-time.ts";
import { plainText } from "../../words/phrase.ts";
import { waitWords } from "../../words/wait/wait-words.ts";

const MINUTE_MS = 60_000;

/** When the last wait ended and what it was, or that there was none in the time that the page knows. */
export function lastWaitText(samples: readonly LiveSample[], changesKnown: number): string {
  const index = samples.findLastIndex(({ waits }) => waits.length > 0);
  const ended = samples[index];
  const [wait] = ended?.waits ?? [];
  const first = samples[0];
  const last = samples.at(-1);
  if (ended === undefined || wait === undefined) {
    if (first === undefined || last === undefined) return "";
    const minutes = Math.floor((last.atMs - first.atMs) / MINUTE_MS);
    const time = minutes < 1 ? "since this page knows the flow" : `in the last ${minutes} min`;
    return `Everything that was asked for ${time} was let through at once.${changesKnown === 0 ? " No limit has changed." : ""}`;
  }
  const { reason, trouble, lead } = waitWords(wait, ended);
  const who = plainText(lead).replace(/ waits? .*$| runs .*$/, "");
  return `The last wait ended at ${clockTime(ended.atMs)}: ${who}, ${reason ?? trouble ?? ""}.`;
}
