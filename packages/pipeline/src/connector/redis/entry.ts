import type { Message } from "../../message.ts";
import { encode, hasReplaced } from "../format.ts";

/** Fields of an entry beside that of the value. */
const KEY = "key";
const TIME = "time";
const ID = "id";
const HEADER = "header:";

/**
 * The message of an entry. An entry without the value's field comes from a program that knows nothing of Sluice:
 * its value is the JSON of all its fields, as an object of texts.
 */
export function messageOf(
  id: string,
  fields: readonly Buffer[],
  valueField: string,
): Message<Buffer> {
  let value: Buffer | undefined;
  let key: string | undefined;
  let eventTimeMs: number | undefined;
  const headers: Record<string, string> = {};
  const all: Record<string, string> = {};
  /** The first field that is no UTF-8. */
  let foreign: Buffer | undefined;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = String(fields[at]);
    const bytes = fields[at + 1] ?? Buffer.alloc(0);
    if (name === valueField) {
      value = bytes;
      continue;
    }
    const text = bytes.toString("utf8");
    if (hasReplaced(text, bytes)) foreign ??= bytes;
    all[name] = text;
    if (name === KEY) key = text;
    else if (name === TIME) eventTimeMs = timeOf(text);
    else if (name.startsWith(HEADER)) headers[name.slice(HEADER.length).toLowerCase()] = text;
  }
  // Without UTF-8 there is no JSON of the fields: the source gives such bytes up as a poison message.
  if (value === undefined) return { id, value: foreign ?? encode(all), headers: {} };
  return {
    id,
    value,
    headers,
    ...(key !== undefined && { key }),
    ...(eventTimeMs !== undefined && { eventTimeMs }),
  };
}

/** The fields and values that `messageOf` reads, and the message's id, by which a reader can leave out duplicates. */
export function fieldsOf(message: Message, valueField: string): (string | Buffer)[] {
  const { id, value, key, headers, eventTimeMs } = message;
  const fields: (string | Buffer)[] = [valueField, encode(value), ID, id];
  if (key !== undefined) fields.push(KEY, key);
  if (eventTimeMs !== undefined) fields.push(TIME, String(eventTimeMs));
  for (const [name, text] of Object.entries(headers)) fields.push(HEADER + name, text);
  return fields;
}

function timeOf(text: string): number | undefined {
  const ms = Number(text);
  return text !== "" && Number.isFinite(ms) ? ms : undefined;
}
