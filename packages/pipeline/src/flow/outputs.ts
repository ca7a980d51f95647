import type { Message, Output } from "../message.ts";

const NO_INDEX = -1;

/**
 * The message that a map's output becomes: what the output leaves out is taken from the message that came in.
 * One of several outputs gets an id of its own, `id/index`, because sinks may leave out equal ids.
 */
export function toMessage(input: Message, output: Output, index: number = NO_INDEX): Message {
  const { id, value, key, headers, eventTimeMs } = output;
  return {
    id: id ?? (index === NO_INDEX ? input.id : `${input.id}/${index}`),
    value,
    key: key ?? input.key,
    headers: headers === undefined ? input.headers : withTrace(headers, input.headers),
    eventTimeMs: eventTimeMs ?? input.eventTimeMs,
  };
}

/** W3C trace context stays with the message, also where a map sets other headers. */
const TRACE_NAMES = ["traceparent", "tracestate"] as const;

function withTrace(headers: Message["headers"], inherited: Message["headers"]): Message["headers"] {
  if (headers["traceparent"] !== undefined || inherited["traceparent"] === undefined)
    return headers;
  const traced: Record<string, string> = { ...headers };
  for (const name of TRACE_NAMES) {
    const value = inherited[name];
    if (value !== undefined) traced[name] = value;
  }
  return traced;
}
