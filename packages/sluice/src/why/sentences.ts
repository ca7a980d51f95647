import type { Why, WhyPaused } from "@sluice/gateway/admin";
import {
  bytesText,
  countText,
  durationText,
  limitText,
  perSecondText,
  shortTopic,
} from "@sluice/gateway/internal";
import { localName } from "./local-name.ts";
import { counted } from "./counted.ts";

/**
 * Why something waits, in one or two sentences for each reason. A part that the gateway does not know is left
 * out, never guessed.
 */
export function sentenceOf(why: Why): string {
  const waits = `${waitersOf(why)} to publish to ${localName(why.topic)}`;
  const { reason } = why;
  if (reason === "topic-rate") return sentences([waits, topicNumbers(why), turnOf(why)]);
  if (reason === "group-rate" || reason === "broker-rate")
    return sentences([waits, sharedNumbers(why)]);
  return sentences([`${waits} (${reason})`]);
}

/** When the wait ends; undefined if it is not known. */
export function untilOf(why: Why): string | undefined {
  const { reason, limit, limiter, becauseOf, turn, producers, others, untilInMs } = why;
  const told = producers.map((producer) => producer.told?.pauseMs ?? 0);
  if (reason === "topic-rate" && becauseOf !== undefined && turn !== undefined)
    return `${becauseOf.producer} sends less than ${perSecondText(turn)}`;
  if (producers.length > 0 && others === 0 && producers.every(({ heldFrames }) => heldFrames === 0))
    return `the pause that was told ends, at most ${waitText(Math.max(...told))}`;
  if (reason === "group-rate") return `${limiter} is asked for less than ${limitText(limit)}`;
  if (reason === "broker-rate") return `less than ${limitText(limit)} is asked`;
  return untilInMs === undefined ? undefined : `about ${waitText(untilInMs)} at the present rate`;
}

/** Why connections are not read: one, or all that wait for memory. */
export function pausedSentence(paused: readonly WhyPaused[]): string {
  const [first] = paused;
  if (first === undefined) return "";
  const { reason, address, becauseOfTopic, pending, held, memory } = first;
  if (reason === "memory") {
    const waits = `${counted(paused.length, "connection")} ${paused.length === 1 ? "waits" : "wait"}`;
    if (memory === undefined) return sentences([`${waits} for memory`]);
    const fill = `Held frames fill ${bytesText(memory.used)} of ${bytesText(memory.max)}`;
    return sentences([waits, `${fill}; reading goes on at ${bytesText(memory.resume)}`]);
  }
  if (reason === "connection-pending")
    return sentences([
      `Connection ${address} waits`,
      pending === undefined
        ? ""
        : `${countText(pending.used)} of its publishes are not stored yet and ${countText(pending.max)} are allowed; it goes on at ${countText(pending.resume)}`,
    ]);
  const cause = becauseOfTopic === undefined ? "" : ` because of ${shortTopic(becauseOfTopic)}`;
  return sentences([
    `Connection ${address} is not read${cause}: all its topics wait`,
    held === undefined
      ? ""
      : `It holds ${bytesText(held.used)} of the ${bytesText(held.max)} that one connection may hold`,
  ]);
}

/** A wait is never 0: it has not ended. */
function waitText(ms: number): string {
  return durationText(Math.max(1, ms));
}

function topicNumbers({ limit, asked, becauseOf, producers, others, notWaiting }: Why): string {
  const takes = `The topic takes ${limitText(limit)}`;
  if (asked === undefined) return takes;
  const count = producers.length + others + (notWaiting?.length ?? 0);
  const all = `${counted(count, "producer")} ask${count === 1 ? "s" : ""} for at least ${perSecondText(asked)}`;
  if (becauseOf?.part === undefined || count === 1) return `${takes}; ${all}`;
  return `${takes}; ${all}, ${becauseOf.producer} alone for ${Math.round(becauseOf.part * 100)} % of it`;
}

function sharedNumbers({ reason, limiter, limit, asked }: Why): string {
  const takes = limitText(limit);
  const whose =
    reason === "group-rate"
      ? `${capital(limiter)} takes ${takes} for its topics together`
      : `This gateway takes ${takes} in all`;
  return whose + askedOf(asked);
}

function turnOf({ turn, producers, notWaiting = [] }: Why): string {
  if (turn === undefined || producers.length + notWaiting.length < 2) return "";
  return `Each gets an even turn of ${perSecondText(turn)}`;
}

function askedOf(asked: number | undefined): string {
  return asked === undefined ? "" : ` and is asked for at least ${perSecondText(asked)}`;
}

/** Up to three names, else "a and 7 others". */
function waitersOf({ producers, others }: Why): string {
  const names = producers.map(({ name }) => name);
  const count = names.length + others;
  const [first = "producers"] = names;
  if (count === 1) return `${first} waits`;
  if (count > 3) return `${first} and ${countText(count - 1)} others wait`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} wait`;
}

function sentences(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part}.`)
    .join(" ");
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
