import type { MsgHdrs } from "@nats-io/transport-node";
import type { Message } from "../../message.ts";

/** Headers of ours for what a message of NATS has no field for. */
const KEY = "sluice-key";
const TIME = "sluice-event-time";
/** JetStream drops a message whose id its stream has seen within the duplicate window. */
export const MESSAGE_ID = "Nats-Msg-Id";
/** Headers that the server or the client has set for itself. */
const OWN = "nats-";

/** What the headers of a message say about it. */
export function readHeaders(
  headers: MsgHdrs | undefined,
): Pick<Message, "headers" | "key" | "eventTimeMs"> {
  const found: Record<string, string> = {};
  if (headers === undefined) return { headers: found };
  for (const [name, [value = ""]] of headers) {
    const lower = name.toLowerCase();
    if (!lower.startsWith(OWN)) found[lower] = value;
  }
  const { [KEY]: key, [TIME]: time, ...rest } = found;
  const eventTimeMs = time === undefined ? Number.NaN : Number(time);
  return {
    headers: rest,
    ...(key !== undefined && { key }),
    ...(Number.isFinite(eventTimeMs) && { eventTimeMs }),
  };
}

/** Fills empty headers with those that `readHeaders` reads. Throws for a name or value that NATS does not allow. */
export function writeHeaders(headers: MsgHdrs, message: Message): MsgHdrs {
  for (const [name, value] of Object.entries(message.headers)) headers.set(name, value);
  if (message.key !== undefined) headers.set(KEY, message.key);
  if (message.eventTimeMs !== undefined) headers.set(TIME, String(message.eventTimeMs));
  return headers;
}
