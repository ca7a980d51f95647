import { inspect } from "node:util";
import type { Sink } from "../../connector/sink.ts";
import type { FailedTry } from "../../flow/tries.ts";
import type { Message } from "../../message.ts";

/** Characters of an error's text that a dead letter carries; brokers bound their headers. */
const ERROR_CHARS_MAX = 500;

/**
 * The message that could not be processed, with headers that say why. For a sink that writes no headers the same
 * is in its value, `{ error, vertex, attempts, id, key, headers, eventTimeMs, value }`; bytes are in `valueBase64`.
 */
export function deadLetterOf(
  message: Message,
  vertex: string,
  { tries, failure }: FailedTry,
  { carriesHeaders = true }: Pick<Sink, "carriesHeaders">,
): Message {
  const error = failure.error.message.replaceAll(/\s+/g, " ").slice(0, ERROR_CHARS_MAX);
  const headers = {
    ...message.headers,
    "sluice-error": error,
    "sluice-vertex": vertex,
    "sluice-attempts": String(tries),
  };
  if (carriesHeaders) return { ...message, headers };
  const { id, key, headers: own, eventTimeMs } = message;
  const about = { error, vertex, attempts: tries, id, key, headers: own, eventTimeMs };
  return { ...message, headers, value: { ...about, ...contentOf(message.value) } };
}

/** A value without JSON, such as a BigInt, is shown as text: a letter must not be lost for it. */
function contentOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value instanceof Uint8Array)
    return {
      valueBase64: Buffer.from(value.buffer, value.byteOffset, value.length).toString("base64"),
    };
  try {
    JSON.stringify(value);
    return { value };
  } catch {
    return { valueText: inspect(value, { depth: 4, maxStringLength: 10_000 }) };
  }
}
