import { shown } from "../connector/check-options.ts";
import type { Message } from "../message.ts";
import type { Mapped } from "./mapper.ts";

const EXAMPLE = "an output is an object with a value, such as { value: message.value }";

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
    const text = mistakeOf(mapped[place]);
    if (text === undefined) continue;
    mended ??= [...mapped];
    mended[place] = { error: new TypeError(text), isRetriable: false };
  }
  return mended ?? mapped;
}

/** What is wrong with the result of one message; undefined if nothing is. */
function mistakeOf(result: unknown): string | undefined {
  if (result === undefined) return `a map answered no result for a message; ${EXAMPLE}`;
  if (!Array.isArray(result)) return undefined;
  for (const output of result as readonly unknown[]) {
    const isObject = typeof output === "object" && output !== null;
    if (isObject && "value" in output) continue;
    return `a map answered ${shown(output)}${isObject ? " without value" : ""}; ${EXAMPLE}`;
  }
  return undefined;
}
