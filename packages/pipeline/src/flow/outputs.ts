import { shown } from "../connector/check-options.ts";
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

/** What is wrong with an output of a map, and the way out; undefined if nothing is. */
export function wrongOutput(output: unknown): string | undefined {
  if (typeof output !== "object" || output === null || !("value" in output))
    return `a map answered ${shown(output)}${typeof output === "object" && output !== null ? " without value" : ""}; it must answer { value: … }, a list of them, or undefined to drop the message`;
  const { id, key, headers, eventTimeMs } = output as Partial<Record<keyof Output, unknown>>;
  if (isGiven(id) && typeof id !== "string")
    return `the id of a map's output is ${shown(id)}; it must be a text`;
  if (isGiven(key) && typeof key !== "string")
    return `the key of a map's output is ${shown(key)}; it must be a text, e.g. String(key)`;
  if (headers !== undefined && (typeof headers !== "object" || headers === null))
    return `the headers of a map's output are ${shown(headers)}; they must be an object of texts`;
  for (const name in headers)
    if (typeof headers[name as never] !== "string")
      return `the header ${name} of a map's output is ${shown(headers[name as never])}; it must be a text`;
  if (isGiven(eventTimeMs) && typeof eventTimeMs !== "number")
    return `the eventTimeMs of a map's output is ${shown(eventTimeMs)}; it must be a number of ms since 1970`;
  return undefined;
}

/** Null counts as left out. */
function isGiven(field: unknown): boolean {
  return field !== undefined && field !== null;
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
