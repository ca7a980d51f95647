import { createHash } from "node:crypto";
import type { Message } from "../../../message.ts";
import { dropWrongTrace } from "../trace-context.ts";

export interface RequestFieldsOptions {
  /** Fields of every request, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly carry: readonly string[];
  readonly idempotencyHeader: string | undefined;
  /** Comes before ids: they are unique within one source only. */
  readonly scope: string;
}

/** Anything but visible characters of ASCII, and the percent sign that escapes it. */
const ESCAPED = /[^\x21-\x24\x26-\x7e]/gu;
const NEEDS_ESCAPE = /[^\x21-\x24\x26-\x7e]/u;

/** What a field's value may have: visible ASCII, spaces, tabs and the upper half of Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Longest idempotency key that is an id as it is; longer ids are hashed. Services keep keys in columns of about 255. */
const KEY_LENGTH_MAX = 200;

/** The fields of requests: those of the user, what messages carry, and the key that repetitions have in common. */
export class RequestFields {
  readonly #options: RequestFieldsOptions;
  readonly #keyStart: string;
  /** The user's fields come last, so that they win; most have none. */
  readonly #hasOwn: boolean;

  constructor(options: RequestFieldsOptions) {
    this.#options = options;
    this.#keyStart = `${escaped(options.scope)}/`;
    this.#hasOwn = Object.keys(options.headers).length > 0;
  }

  /**
   * Of the request for these messages. A header that they do not agree on is left out: a request has one parent, and a
   * batch of several traces belongs to none of them.
   */
  of(messages: readonly Message[], contentType: string): Record<string, string> {
    const { headers, carry, idempotencyHeader } = this.#options;
    const fields: Record<string, string> = { "content-type": contentType };
    const [first] = messages;
    for (const name of carry) {
      const value = first?.headers[name];
      if (value === undefined || !FIELD_VALUE.test(value)) continue;
      if (messages.length === 1 || messages.every((message) => message.headers[name] === value))
        fields[name] = value;
    }
    dropWrongTrace(fields);
    if (idempotencyHeader !== undefined) fields[idempotencyHeader] = this.#keyOf(messages);
    return this.#hasOwn ? Object.assign(fields, headers) : fields;
  }

  /** The id of a single message; of several, a hash of their ids in order. */
  #keyOf(messages: readonly Message[]): string {
    const [first] = messages;
    if (messages.length === 1 && first !== undefined) {
      const key = this.#keyStart + escaped(first.id);
      if (key.length <= KEY_LENGTH_MAX) return key;
    }
    const ids = [this.#options.scope, ...messages.map(({ id }) => id)];
    return createHash("sha256").update(JSON.stringify(ids)).digest("hex");
  }
}

function escaped(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replaceAll(ESCAPED, encodeURIComponent) : text;
}
