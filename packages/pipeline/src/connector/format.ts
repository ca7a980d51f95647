import { isUtf8 } from "node:buffer";
import { SluiceError } from "@sluice/core";
import type { WriteFailure } from "./sink.ts";

/** How a source reads the bytes of a message. */
export type Format = "bytes" | "text" | "json";

/** Throws a SyntaxError for bytes that are no JSON. In `text`, bytes that are no UTF-8 become U+FFFD, as in any editor. */
export function decode(bytes: Buffer, format: Format): unknown {
  if (format === "bytes") return bytes;
  return format === "text" ? bytes.toString("utf8") : JSON.parse(jsonText(bytes));
}

/**
 * The text of bytes that should be JSON. Throws a SyntaxError for bytes that are no UTF-8, which JSON is by RFC 8259: Node
 * would replace them by U+FFFD, and a changed value would pass for a whole one.
 */
export function jsonText(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (hasReplaced(text, bytes)) throw new SyntaxError(NOT_UTF8);
  return text;
}

/** Whether bytes were lost in their text. The search in the text costs less than a look at the bytes of every message. */
export function hasReplaced(text: string, bytes: Buffer): boolean {
  return text.includes("\u{FFFD}") && !isUtf8(bytes);
}

const NOT_UTF8 = "the bytes are no UTF-8; send JSON in UTF-8, or read the source with format bytes";

/** A value that no sink can send, because it has no JSON: a circle, a BigInt. */
export class UnsendableError extends SluiceError {
  override readonly name = "UnsendableError";
  readonly code = "INVARIANT";
}

/**
 * The bytes that a sink sends: of a Buffer as it is, of a string in UTF-8, of anything else its JSON. Throws an
 * `UnsendableError`. A sink makes a failure of that message alone, or one value would hold up its batch for ever.
 */
export function encode(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length);
  if (typeof value === "string") return Buffer.from(value, "utf8");
  // Of undefined and functions there is no JSON, which the type of stringify does not tell.
  const text = jsonOf(value) as string | undefined;
  return Buffer.from(text ?? "null", "utf8");
}

/** The failure of a message whose value cannot be sent. Throws what is no `UnsendableError`. */
export function unsendable(thrown: unknown): WriteFailure {
  if (thrown instanceof UnsendableError) return { error: thrown, isRetriable: false };
  throw thrown;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new UnsendableError(`the message's value has no JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
