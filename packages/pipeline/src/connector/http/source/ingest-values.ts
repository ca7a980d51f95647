import { hasReplaced } from "../../format.ts";
import type { Format } from "../../format.ts";

/** The values of a body, or what is wrong with it. */
export type IngestValues =
  | { readonly values: readonly unknown[]; readonly problem?: undefined }
  | { readonly values?: undefined; readonly problem: string };

const NDJSON = /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines)\b/i;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;

/**
 * The messages of a body. NDJSON has one in each line that is not blank. A JSON array has one in each element; so
 * a message that is itself an array is sent as a line of NDJSON. Any other body is one message.
 */
export function ingestValues(body: Buffer, contentType: string, format: Format): IngestValues {
  const isLines = NDJSON.test(contentType);
  if (isLines || JSON_TYPE.test(contentType) || format === "json") {
    const text = body.toString("utf8");
    if (hasReplaced(text, body)) return { problem: "the body is no UTF-8; JSON must be" };
    return isLines ? linesOf(text, format) : jsonValues(text, format);
  }
  if (body.length === 0) return { problem: "the body is empty; post one message or several" };
  return { values: [format === "text" ? body.toString("utf8") : body] };
}

function linesOf(text: string, format: Format): IngestValues {
  const values: unknown[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = parsed(line);
    if (value instanceof SyntaxError)
      return { problem: `line ${index + 1} is no JSON: ${value.message}` };
    values.push(inFormat(value, format));
  }
  return values.length > 0 ? { values } : { problem: "the body has no line with a message" };
}

function jsonValues(text: string, format: Format): IngestValues {
  const value = parsed(text);
  if (value instanceof SyntaxError) return { problem: `the body is no JSON: ${value.message}` };
  if (!Array.isArray(value)) return { values: [inFormat(value, format)] };
  if (value.length === 0) return { problem: "the array is empty; post at least one message" };
  return { values: value.map((each) => inFormat(each, format)) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

/** With the formats `text` and `bytes`, a message of several is its JSON. */
function inFormat(value: unknown, format: Format): unknown {
  if (format === "json") return value;
  const text = JSON.stringify(value);
  return format === "text" ? text : Buffer.from(text, "utf8");
}
