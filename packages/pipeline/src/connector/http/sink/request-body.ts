import type { Message } from "../../../message.ts";
import { encode, jsonText } from "../../format.ts";
import type { HttpBatchSettings } from "./sink-options.ts";

/** One request: its messages, by their places in the batch of the pipeline, and its body. */
export interface RequestBody {
  readonly places: readonly number[];
  readonly parts: readonly Buffer[];
  readonly contentType: string;
  /** Undefined: one message that is sent as it is. */
  readonly format: HttpBatchSettings["format"] | undefined;
}

/** A message that no body can have. */
export interface Unsendable {
  readonly place: number;
  readonly error: Error;
}

const JSON_TYPE = "application/json";
const NDJSON_TYPE = "application/x-ndjson";
const NEWLINE = 0x0a;

/** A request for one message, whose value is sent as it is. Throws an `UnsendableError`. */
export function singleBody({ value }: Message, place: number): RequestBody {
  const parts = [encode(value)];
  return { places: [place], parts, contentType: typeOf(value), format: undefined };
}

/**
 * Divides messages into bodies, in their order: at most `messagesMax` messages and `bytesMax` bytes each. A
 * message that is larger than `bytesMax` goes alone.
 */
export function batchedBodies(
  messages: readonly Message[],
  { format, messagesMax, bytesMax }: HttpBatchSettings,
): { readonly bodies: readonly RequestBody[]; readonly unsendable: readonly Unsendable[] } {
  const bodies: RequestBody[] = [];
  const unsendable: Unsendable[] = [];
  let places: number[] = [];
  let parts: Buffer[] = [];
  let bytes = 0;
  const finish = (): void => {
    if (places.length === 0) return;
    bodies.push({
      places,
      parts,
      contentType: format === "json" ? JSON_TYPE : NDJSON_TYPE,
      format,
    });
    places = [];
    parts = [];
    bytes = 0;
  };
  for (const [place, { value }] of messages.entries()) {
    const part = jsonOf(value, format);
    if (part instanceof Error) {
      unsendable.push({ place, error: part });
      continue;
    }
    // One byte for the line break or the comma.
    if (places.length >= messagesMax || bytes + part.length + 1 > bytesMax) finish();
    places.push(place);
    parts.push(part);
    bytes += part.length + 1;
  }
  finish();
  return { bodies, unsendable };
}

/** The two halves of a body, to find the message that the service does not take. */
export function halves(body: RequestBody): readonly RequestBody[] {
  const middle = Math.ceil(body.places.length / 2);
  const half = (from: number, to: number): RequestBody => ({
    ...body,
    places: body.places.slice(from, to),
    parts: body.parts.slice(from, to),
  });
  return [half(0, middle), half(middle, body.places.length)];
}

/** The bytes of a request. */
export function bytesOf({ parts, format }: RequestBody): Buffer {
  const [first] = parts;
  if (format === undefined) return first ?? Buffer.alloc(0);
  const pieces: Buffer[] = [];
  if (format === "json") pieces.push(Buffer.from("["));
  for (const [index, part] of parts.entries()) {
    if (index > 0) pieces.push(Buffer.from(format === "json" ? "," : "\n"));
    pieces.push(part);
  }
  pieces.push(Buffer.from(format === "json" ? "]" : "\n"));
  return Buffer.concat(pieces);
}

/**
 * A value as JSON: bytes are JSON already, anything else is turned into it. Bytes that are no JSON would spoil
 * an array for its other messages, and a line break would make two lines of one.
 */
function jsonOf(value: unknown, format: HttpBatchSettings["format"]): Buffer | Error {
  if (!(value instanceof Uint8Array)) return textOf(value);
  const bytes = encode(value);
  if (format === "ndjson" && !bytes.includes(NEWLINE)) return bytes;
  try {
    return Buffer.from(JSON.stringify(JSON.parse(jsonText(bytes))));
  } catch (error) {
    const wayOut = "send it without batch, or let a map turn it into a value";
    return new SyntaxError(`the message's bytes are no JSON, which a batch is made of; ${wayOut}`, {
      cause: error,
    });
  }
}

/** A circle or a BigInt has no JSON. */
function textOf(value: unknown): Buffer | Error {
  try {
    return Buffer.from(JSON.stringify(value === undefined ? null : value), "utf8");
  } catch (error) {
    return new TypeError(`the message's value has no JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function typeOf(value: unknown): string {
  if (value instanceof Uint8Array) return "application/octet-stream";
  return typeof value === "string" ? "text/plain; charset=utf-8" : JSON_TYPE;
}
