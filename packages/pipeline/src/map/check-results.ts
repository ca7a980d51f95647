import { asError } from "../as-error.ts";
import { shown } from "../connector/check-options.ts";
import type { Message, Output } from "../message.ts";
import type { Mapped } from "./mapper.ts";

/**
 * The results of a map, with a failure in the place of each that is none. Maps are often written without types: an
 * answer that is taken as it comes could end the pipeline, or send messages on without their values.
 */
export function checkResults(
  messages: readonly Message[],
  mapped: readonly Mapped[],
): readonly Mapped[] {
  if (mapped.length !== messages.length) {
    const text = `a map answered ${mapped.length} results for ${messages.length} messages; it must answer one for each`;
    const failure = { error: new Error(text), isRetriable: false };
    return messages.map(() => failure);
  }
  let mended: Mapped[] | undefined;
  for (let place = 0; place < mapped.length; place++) {
    const error = mistakeOf(mapped[place]);
    if (error === undefined) continue;
    mended ??= [...mapped];
    mended[place] = { error, isRetriable: false };
  }
  return mended ?? mapped;
}

/** What is wrong with the result of one message; undefined if nothing is. */
function mistakeOf(result: unknown): Error | undefined {
  if (result === undefined)
    return new TypeError("a map answered no result for a message; it must answer one for each");
  if (!Array.isArray(result)) return undefined;
  try {
    for (const output of result as readonly unknown[]) {
      const wrong = wrongOutput(output);
      if (wrong !== undefined) return new TypeError(wrong);
    }
  } catch (thrown) {
    // A getter or a proxy: a failure of this message, not of its batch.
    return asError(thrown);
  }
  return undefined;
}

/** What is wrong with an output of a map, and the way out; undefined if nothing is. */
function wrongOutput(output: unknown): string | undefined {
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
