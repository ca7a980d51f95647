import type { Message } from "../message.ts";
import { encode } from "./format.ts";
import type { WriteResult } from "./sink.ts";

const LINE_FEED = 0x0a;
const BREAK = Buffer.from("\n");

/** Messages as lines: the bytes to write, and a result for each message; undefined if every message is a line. */
export function linesOf(messages: readonly Message[]): {
  readonly bytes: Buffer;
  readonly results: WriteResult[] | undefined;
} {
  const parts: Buffer[] = [];
  let results: WriteResult[] | undefined;
  for (const [index, { value }] of messages.entries()) {
    const bytes = encode(value);
    if (!bytes.includes(LINE_FEED)) {
      parts.push(bytes, BREAK);
      continue;
    }
    const error = new Error(
      "the value has a line break, which would make two lines of it; answer an object from the map: its JSON is one line",
    );
    results ??= messages.map(() => undefined);
    results[index] = { error, isRetriable: false };
  }
  return { bytes: Buffer.concat(parts), results };
}
