import type { Message } from "../message.ts";
import { encode, unsendable } from "./format.ts";
import type { WriteFailure, WriteResult } from "./sink.ts";

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
    const line = lineOf(value);
    if (Buffer.isBuffer(line)) {
      parts.push(line, BREAK);
      continue;
    }
    results ??= messages.map(() => undefined);
    results[index] = line;
  }
  return { bytes: Buffer.concat(parts), results };
}

function lineOf(value: unknown): Buffer | WriteFailure {
  let bytes: Buffer;
  try {
    bytes = encode(value);
  } catch (thrown) {
    return unsendable(thrown);
  }
  if (!bytes.includes(LINE_FEED)) return bytes;
  const error = new Error(
    "the value has a line break, which would make two lines of it; answer an object from the map: its JSON is one line",
  );
  return { error, isRetriable: false };
}
