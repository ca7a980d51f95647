import type { LiveWait } from "../../../../src/live/live-message.ts";
import { topicName } from "../names.ts";
import { bytesText, countText, countedText } from "../numbers.ts";
import { strong } from "../phrase.ts";
import type { Phrase } from "../phrase.ts";
import { sentences } from "./wait-words.ts";
import type { WaitWords } from "./wait-words.ts";

type Paused = Extract<LiveWait, { readonly kind: "paused" }>;

/** Connections that are not read: their publishes are not stored yet, or memory is full, or they hold too much. */
export function pausedWords({ whys, whysLeftOut }: Paused): WaitWords {
  const [first] = whys;
  if (first === undefined) return { lead: [], more: "" };
  const { reason, pending, held, memory, becauseOfTopic } = first;
  const count = whys.length + whysLeftOut;
  const forMs = Math.max(...whys.map((one) => one.forMs));
  const because = becauseOfTopic === undefined ? undefined : topicName(becauseOfTopic);
  const connections: Phrase =
    count === 1
      ? ["Connection ", strong(first.address)]
      : [strong(countedText(count, "connection"))];
  const verb = count === 1 ? "waits" : "wait";
  if (reason === "memory") {
    const fill =
      memory === undefined
        ? ""
        : `Held frames fill ${bytesText(memory.used)} of ${bytesText(memory.max)}; reading goes on at ${bytesText(memory.resume)}`;
    const lead: Phrase = [strong(countedText(count, "connection")), ` ${verb}.`];
    return { reason, lead, more: sentences(fill), forMs, because };
  }
  if (reason === "connection-pending") {
    const whose = count === 1 ? "its" : "the first one's";
    const fill =
      pending === undefined
        ? ""
        : `${countText(pending.used)} of ${whose} publishes are not stored yet and ${countText(pending.max)} are allowed; it goes on at ${countText(pending.resume)}`;
    return { reason, lead: [...connections, ` ${verb}.`], more: sentences(fill), forMs, because };
  }
  const holds =
    held === undefined
      ? ""
      : `${count === 1 ? "It" : "The first"} holds ${bytesText(held.used)} of the ${bytesText(held.max)} that one connection may hold`;
  const cause: Phrase = because === undefined ? [] : [" because of ", strong(because)];
  const unread = `${count === 1 ? " is" : " are"} not read`;
  const lead: Phrase = [...connections, unread, ...cause, ": all topics of it wait."];
  return { reason, lead, more: sentences(holds), forMs, because };
}
