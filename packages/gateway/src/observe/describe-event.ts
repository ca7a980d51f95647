import type { BrokerEvent } from "./broker-event.ts";
import type { RateParts } from "./waiting.ts";
import { messageOf } from "./message-of.ts";
import { durationText, limitText, perSecondText } from "./rate-words.ts";

/** One sentence about an event, for people. It has no control characters, whatever a client sent. */
export function describeEvent(event: BrokerEvent): string {
  return sentence(event).replaceAll(/\p{C}+/gu, " ");
}

function sentence(event: BrokerEvent): string {
  switch (event.kind) {
    case "client-refused":
      return `the client ${event.address} was refused: ${event.reason}`;
    case "client-closed":
      return `the connection of ${event.address} was closed: ${event.reason}`;
    case "producers-blocked":
      return `producers of ${event.topic} wait: ${BLOCK_REASONS[event.reason]}`;
    case "producers-unblocked":
      return `producers of ${event.topic} go on`;
    case "consumer-blocked":
      return `consumer ${event.consumer} of ${event.subscription} on ${event.topic} gets nothing until it acknowledges: it has ${event.unackedMessages} unacknowledged messages`;
    case "tail-cut":
      return `${event.bytes} bytes of a torn write, never acknowledged, were cut off the end of ${event.topic}`;
    case "damaged":
      return `stored bytes of ${event.topic ?? "an unknown topic"} are damaged: ${event.error.message}`;
    case "storage-full":
      return `${event.topic} cannot store more: ${event.error.message}`;
    case "healed":
      return `${event.topic} stores again`;
    case "cursor-reset":
      return `subscription ${event.subscription} of ${event.topic} continues at ${event.position.ledgerId}:${event.position.entryId}: ${RESET_REASONS[event.reason]}`;
    case "topic-stopped":
      return `${event.topic} has stopped: ${event.error.message}`;
    case "memory-full":
      return `the byte budget is exhausted (${event.bytes} of ${event.bytesMax} bytes): SENDs wait`;
    case "memory-free":
      return `the byte budget has room again (${event.bytes} bytes are held)`;
    case "upstream-lost":
      return `the broker ${event.upstream} is lost: ${event.reason}`;
    case "upstream-back":
      return `the broker ${event.upstream} is reached again`;
    case "target-refused":
      return `the client ${event.address} was not connected to ${event.target}: ${event.reason}`;
    case "topic-migrated":
      return `${event.topic === "" ? "a topic" : event.topic} has moved to the cluster at ${event.url}; set upstream to it for its clients to go on`;
    case "publish-throttled":
      return `${counted(event.producers, "producer")} of ${event.topic} wait${event.producers === 1 ? "s" : ""} for ${limiterText(event)}${causeText(event)}`;
    case "publish-resumed":
      return `producers of ${event.topic} wait no more for ${event.limiter === "topic" ? "the topic's limit" : `the limit of ${event.limiter}`}, after ${durationText(event.afterMs)}`;
    case "producer-told":
      return `producer ${event.producer} of ${event.topic} was told to wait ${durationText(event.pauseMs)}${event.receiptAfterMs === undefined ? "" : `; its receipt came after ${durationText(event.receiptAfterMs)}`}`;
    case "socket-paused":
      return `the connection of ${event.address} is not read (${event.reason})${ofTopic(event.topic)}`;
    case "socket-resumed":
      return `the connection of ${event.address} is read again after ${durationText(event.afterMs)} (${event.reason})${ofTopic(event.topic)}`;
    case "limit-changed":
      return `the limit of ${event.target} was changed from ${limitText(event.from)} to ${limitText(event.to)} through ${event.by}`;
    case "store-lost":
      return `the store that shares ${event.unit} of ${event.target} is lost: ${event.reason}; ${untilBack(event.safeShare)} until it is back`;
    case "store-back":
      return `the store that shares ${event.unit} of ${event.target} is back after ${durationText(event.afterMs)}`;
    case "limit-not-stored":
      return `the new limit of ${event.target} is not in the store, so other gateways do not know it: ${event.reason}; it is tried again every 5 s`;
    case "store-warning":
      return `${event.target} is shared, but ${event.text}`;
    case "error":
      return `an error that should not happen: ${messageOf(event.error)}`;
    default:
      return event.text;
  }
}

function limiterText({ limiter, limit }: { limiter: string; limit: RateParts }): string {
  const whose = limiter === "topic" ? "its limit" : `the limit of ${limiter}`;
  return `${whose} of ${limitText(limit)}`;
}

function causeText({
  becauseOf,
  turn,
}: Extract<BrokerEvent, { kind: "publish-throttled" }>): string {
  if (becauseOf === undefined) return "";
  const { producer, asked } = becauseOf;
  const turns =
    turn === undefined || turn <= 0 ? "" : `, ${(asked / turn).toFixed(1)} × its even turn`;
  return `; ${producer} asks for at least ${perSecondText(asked)}${turns}`;
}

function ofTopic(topic: string | undefined): string {
  return topic === undefined ? "" : `, because of ${topic}`;
}

/** What a gateway does without the store of a limit. */
function untilBack(safeShare: number): string {
  return safeShare === 0
    ? "nothing that it limits passes this gateway"
    : `this gateway uses its safe share of ${perSecondText(safeShare)}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

const BLOCK_REASONS = {
  "storage-full": "there is no room to store more",
  "backlog-quota": "the backlog is over its quota",
} as const;

const RESET_REASONS = {
  damaged: "its stored cursor is damaged",
  "ahead-of-log": "its stored cursor is after the end of the log",
} as const;

/** The event as JSON has it: errors by their message. */
export function eventJson(event: BrokerEvent): Readonly<Record<string, unknown>> {
  return "error" in event ? { ...event, error: messageOf(event.error) } : { ...event };
}
