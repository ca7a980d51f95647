import type { IncomingHttpHeaders } from "node:http";
import type { Message } from "../../../message.ts";
import { dropWrongTrace } from "../trace-context.ts";
import { problem } from "./ingest-answers.ts";
import type { IngestAnswer } from "./ingest-answers.ts";
import { ingestValues } from "./ingest-values.ts";
import type { HttpSourceSettings } from "./source-options.ts";

/** Field with the key of the request's messages. */
const KEY_FIELD = "message-key";
const ID_FIELD = "idempotency-key";
/** Longest key of a client, in characters; a longer one is refused. */
const ID_LENGTH_MAX = 255;

/** The messages of a request, or what it is answered if they cannot be read. `newId` makes the id of a request that brings none. */
export function requestMessages(
  fields: IncomingHttpHeaders,
  body: Buffer,
  { format, headers: names, bufferMax }: HttpSourceSettings,
  newId: () => string,
): readonly Message[] | IngestAnswer {
  const { "content-type": contentType = "" } = fields;
  const { values, problem: wrong } = ingestValues(body, contentType, format);
  if (values === undefined) return problem(400, "Malformed message", wrong);
  if (values.length > bufferMax)
    return problem(
      413,
      "Too many messages",
      `${values.length} messages; at most ${bufferMax} in one request`,
    );
  const given = textOf(fields[ID_FIELD]);
  if (given !== undefined && given.length > ID_LENGTH_MAX)
    return problem(
      400,
      "Malformed key",
      `Idempotency-Key has ${given.length} characters; at most ${ID_LENGTH_MAX}`,
    );
  const id = given ?? newId();
  const key = textOf(fields[KEY_FIELD]);
  const headers: Record<string, string> = {};
  for (const name of names) {
    const value = textOf(fields[name]);
    if (value !== undefined) headers[name] = value;
  }
  dropWrongTrace(headers);
  return values.map((value, index) => ({
    id: values.length === 1 ? id : `${id}/${index}`,
    value,
    key,
    headers,
  }));
}

function textOf(field: string | readonly string[] | undefined): string | undefined {
  return typeof field === "string" ? field : field?.[0];
}
