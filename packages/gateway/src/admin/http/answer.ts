import type { Writable } from "node:stream";

/** What a handler answers. The server adds nothing but lengths and connection headers. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /**
   * Instead of a body: writes to the client until it leaves. Answers how to stop; the server ends
   * the output after that.
   */
  readonly stream?: (out: Writable) => () => void;
}

/** Pulsar's Java client compares this text for equality, so it has no charset. */
const JSON_TYPE = { "content-type": "application/json" };

/** A change was made. */
export const DONE: Answer = { status: 204 };

/** A policy that is not set; Pulsar sends no content type either. */
export const UNSET: Answer = { status: 200 };

/** Without a content type Java's admin client waits until its time-out. */
export function json(value: unknown, status = 200): Answer {
  return { status, headers: JSON_TYPE, body: JSON.stringify(value) };
}

/** Text that is JSON already, or a string without quotes, which Pulsar calls JSON all the same. */
export function bareText(text: string): Answer {
  return { status: 200, headers: JSON_TYPE, body: text };
}

/** The server's refusal of one request, in the form that Pulsar's admin clients read. */
export function refused(
  status: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { ...json({ reason }, status), headers: { ...JSON_TYPE, ...headers } };
}
