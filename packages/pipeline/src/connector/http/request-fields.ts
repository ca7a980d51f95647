import { createHash } from "node:crypto";
import type { Message } from "../../message.ts";

export interface RequestFieldsOptions {
  /** Fields of every request, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly carry: readonly string[];
  readonly idempotencyHeader: string | undefined;
  /** Comes before ids: they are unique within one source only. */
  readonly scope: string;
}

/** Visible characters of ASCII, without the percent sign that escapes all others. */
const ESCAPED = /[^\x21-\x24\x26-\x7e]/gu;

/** What a field's value may have: visible ASCII, spaces, tabs and the upper half of Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Longest idempotency key that is an id as it is; longer ids are hashed. Services keep keys in columns of about 255. */
const KEY_LENGTH_MAX = 200;

/** The fields of requests: those of the user, what messages carry, and the key that repetitions have in common. */
export class RequestFields {
  readonly #options: RequestFieldsOptions;

  constructor(options: RequestFieldsOptions) {
    this.#options = options;
  }

  /** Of the request for these messages. A header that they do not agree on is left out. */
  of(messages: readonly Message[], contentType: string): Record<string, string> {
    const { headers, carry, idempotencyHeader } = this.#options;
    const fields: Record<string, string> = { "content-type": contentType };
    for (const name of carry) {
      const value = messages[0]?.headers[name];
      if (value === undefined || !FIELD_VALUE.test(value)) continue;
      if (messages.every((message) => message.headers[name] === value)) fields[name] = value;
    }
    if (idempotencyHeader !== undefined) fields[idempotencyHeader] = this.#keyOf(messages);
    return Object.assign(fields, headers);
  }

  /** The id of a single message; of several, a hash of their ids in order. */
  #keyOf(messages: readonly Message[]): string {
    const { scope } = this.#options;
    const [first, ...others] = messages.map(({ id }) => id);
    const key = `${scope}/${first}`.replaceAll(ESCAPED, encodeURIComponent);
    if (others.length === 0 && key.length <= KEY_LENGTH_MAX) return key;
    const hash = createHash("sha256").update(JSON.stringify([scope, first, ...others]));
    return hash.digest("hex");
  }
}
