import type { BrokerEvent } from "./broker-event.ts";

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
    case "error":
      return `an error that should not happen: ${messageOf(event.error)}`;
  }
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
