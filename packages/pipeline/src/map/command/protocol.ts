import type { Message, Output } from "../../message.ts";
import type { Mapped } from "../mapper.ts";
import { MapError } from "../map-error.ts";

/** An answer of the child: what became of the message with this id. */
export interface Answer {
  readonly id: string;
  readonly mapped: Mapped;
}

/**
 * The line for one message: `{"id","messageId","value","key","headers","eventTimeMs"}`; bytes are in `valueBase64`
 * instead of `value`. `id` is unique among the lines in flight. Throws if the value has no JSON.
 */
export function lineOf(id: string, message: Message): string {
  const { id: messageId, value, key, headers, eventTimeMs } = message;
  const content =
    value instanceof Uint8Array
      ? {
          valueBase64: Buffer.from(value.buffer, value.byteOffset, value.length).toString("base64"),
        }
      : { value: value === undefined ? null : value };
  return `${JSON.stringify({ id, messageId, ...content, key, headers, eventTimeMs })}\n`;
}

/** Reads a line of the child; `isWhole` is false if it is no UTF-8. A text says what is wrong with the line. */
export function parseAnswer(line: string, isWhole: boolean = true): Answer | string {
  const parsed = parseObject(line);
  if (parsed === undefined) return `a line of its output is no JSON object: ${excerpt(line)}`;
  const { id, outputs, error, retriable = true } = parsed;
  if (typeof id !== "string" && typeof id !== "number")
    return `a line of its output has no id: ${excerpt(line)}`;
  if (!isWhole) return failed(id, `the answer is no UTF-8: ${excerpt(line)}`, false);
  if (error !== undefined && error !== null) {
    const text = typeof error === "string" ? error : JSON.stringify(error);
    return failed(id, text, retriable !== false);
  }
  if (!Array.isArray(outputs))
    return failed(id, `the answer has neither outputs nor error: ${excerpt(line)}`, false);
  const read = outputs.map(outputOf);
  const wrong = read.find((output) => typeof output === "string");
  if (wrong !== undefined) return failed(id, wrong, false);
  return { id: String(id), mapped: read as Output[] };
}

/** Lines of a program that writes anything come by the million a second: an error with its stack for each would stop the process. */
function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    const parsed: unknown = JSON.parse(line);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function failed(id: string | number, text: string, isRetriable: boolean): Answer {
  return { id: String(id), mapped: { error: new MapError(text), isRetriable } };
}

/** The output, or what is wrong with it. */
function outputOf(output: unknown): Output | string {
  if (!isRecord(output))
    return `an output is ${excerpt(JSON.stringify(output))}; it must be an object with a value`;
  const { value, valueBase64, id, key, headers, eventTimeMs } = output;
  if (!("value" in output) && typeof valueBase64 !== "string")
    return "an output has neither value nor valueBase64";
  if (id !== undefined && typeof id !== "string") return "the id of an output is no text";
  if (key !== undefined && key !== null && typeof key !== "string")
    return "the key of an output is no text";
  if (headers !== undefined && !isTexts(headers))
    return "the headers of an output are no object of texts";
  if (eventTimeMs !== undefined && eventTimeMs !== null && typeof eventTimeMs !== "number")
    return "the eventTimeMs of an output is no number";
  return {
    value: typeof valueBase64 === "string" ? Buffer.from(valueBase64, "base64") : value,
    ...(id === undefined ? {} : { id }),
    ...(key === undefined ? {} : { key: key ?? undefined }),
    ...(headers === undefined ? {} : { headers }),
    ...(eventTimeMs === undefined ? {} : { eventTimeMs: eventTimeMs ?? undefined }),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((each) => typeof each === "string");
}

/** Characters of a foreign line in an error: errors are logged. */
const EXCERPT_LENGTH_MAX = 100;

function excerpt(line: string | undefined): string {
  return JSON.stringify((line ?? "undefined").slice(0, EXCERPT_LENGTH_MAX));
}
