import type { LiveSample, LiveWait } from "../../../../src/live/live-message.ts";
import { topicName } from "../names.ts";
import { countedText, durationText, limitText, percentText, rateText } from "../numbers.ts";
import { namesPhrase, strong } from "../phrase.ts";
import type { Phrase } from "../phrase.ts";
import { sentences } from "./wait-words.ts";
import type { WaitWords } from "./wait-words.ts";

type Publish = Extract<LiveWait, { readonly kind: "publish" }>;

/** Producers that wait for the limit of a topic, of a group or of the whole gateway. */
export function publishWords(wait: Publish, sample: LiveSample): WaitWords {
  const { why } = wait;
  return {
    reason: why.reason,
    lead: leadOf(wait),
    more: moreOf(wait, sample),
    forMs: why.forMs,
    until: untilOf(wait),
    because: causeOf(wait),
  };
}

function leadOf({ why, topics, topicsLeftOut }: Publish): Phrase {
  const { reason, producers, others } = why;
  const count = producers.length + others;
  const wait = count === 1 ? " waits to publish" : " wait to publish";
  if (reason === "broker-rate") return [strong(countedText(count, "producer")), `${wait}.`];
  const who = namesPhrase(
    producers.map(({ name }) => name),
    others,
  );
  return [...who, `${wait} to `, ...namesPhrase(topics.map(topicName), topicsLeftOut), "."];
}

function moreOf(wait: Publish, sample: LiveSample): string {
  const { why } = wait;
  const { reason, limit, turn, producers, notWaiting = [] } = why;
  if (reason === "topic-rate") {
    const isShared = producers.length + notWaiting.length > 1;
    const even =
      turn === undefined || !isShared ? "" : `Each gets an even turn of ${rateText(turn)}`;
    return sentences(`The topic takes ${limitText(limit)}${asksText(wait, sample)}`, even);
  }
  if (reason === "group-rate") {
    const name = why.limiter.replace(/^group /, "");
    const group = sample.gateway?.groups.find((one) => one.name === name);
    const count = group === undefined ? "" : `${group.topics} `;
    const takes = `Group ${name} takes ${limitText(limit)} for its ${count}topics together`;
    return sentences(takes + askedText(why.asked, group?.isAskedAtLeast ?? true));
  }
  const takes = `This gateway takes ${limitText(limit)} in all`;
  return sentences(takes + askedText(why.asked, sample.gateway?.isAskedAtLeast ?? true));
}

/** "; 3 producers ask for at least 3,251/s, bulk-import alone for 72 % of it". */
function asksText({ why }: Publish, { gateway }: LiveSample): string {
  const { asked, becauseOf, producers, others, notWaiting = [] } = why;
  if (asked === undefined) return "";
  const topic = gateway?.topics.find(({ name }) => topicName(name) === topicName(why.topic));
  const least = topic?.isAskedAtLeast === false ? "" : "at least ";
  const count = producers.length + others + notWaiting.length;
  const all = `; ${countedText(count, "producer")} ask${count === 1 ? "s" : ""} for ${least}${rateText(asked)}`;
  if (becauseOf?.part === undefined || count === 1) return all;
  return `${all}, ${becauseOf.producer} alone for ${percentText(becauseOf.part)} of it`;
}

function askedText(asked: number | undefined, isAtLeast: boolean): string {
  if (asked === undefined) return "";
  return ` and is asked for ${isAtLeast ? "at least " : ""}${rateText(asked)}`;
}

function untilOf({ why }: Publish): Phrase | undefined {
  const { reason, limit, turn, becauseOf, producers, others, untilInMs } = why;
  const isTold =
    others === 0 && producers.length > 0 && producers.every((one) => one.heldFrames === 0);
  const pauseMs = Math.max(0, ...producers.map(({ told }) => told?.pauseMs ?? 0));
  if (reason === "topic-rate" && isTold && pauseMs > 0)
    return ["told to wait ", strong(durationText(pauseMs))];
  if (reason === "topic-rate" && becauseOf !== undefined && turn !== undefined)
    return [`until ${becauseOf.producer} sends less than `, strong(rateText(turn))];
  if (reason === "group-rate")
    return ["until the group is asked for less than ", strong(limitText(limit))];
  if (reason === "broker-rate") return ["until less than ", strong(limitText(limit)), " is asked"];
  if (untilInMs === undefined) return undefined;
  return ["about ", strong(durationText(untilInMs)), " at the present rate"];
}

function causeOf({ why }: Publish): string | undefined {
  const { becauseOf: top, reason } = why;
  if (top === undefined) return undefined;
  if (reason === "topic-rate" || top.part === undefined) return top.producer;
  return `${top.producer}, ${percentText(top.part)} of it`;
}
