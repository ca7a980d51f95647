import { urlOf } from "./request-like.ts";

type FetchInput = Parameters<typeof globalThis.fetch>[0];

/** More than have gates at once, as a rule; beyond it all are forgotten, and read again as they come. */
const ORIGINS_MAX = 1000;

/** Where the first slash behind `http://` and a host can be. */
const HOST_END_MIN = "http://h".length;
const SLASH = "/".charCodeAt(0);

/** The origins of requests. Addresses that begin with one that was seen before are not parsed again. */
export class Origins {
  readonly #seen = new Map<string, string>();
  /** The origin of the last request: most requests go where the last one went. */
  #last = "";

  /** The origin of a request; undefined if it goes nowhere. */
  of(input: FetchInput): string | undefined {
    if (typeof input === "string") {
      // What is an origin by its letters, and followed by a slash or nothing, has no other.
      if (this.#last !== "" && beginsWith(input, this.#last)) return this.#last;
      const end = input.indexOf("/", HOST_END_MIN);
      const seen = this.#seen.get(end < 0 ? input : input.slice(0, end));
      if (seen !== undefined) {
        this.#last = seen;
        return seen;
      }
    }
    const origin = urlOf(input)?.origin;
    if (typeof input !== "string" || origin === undefined) return origin;
    if (this.#seen.size >= ORIGINS_MAX) this.#seen.clear();
    this.#seen.set(origin, origin);
    return origin;
  }
}

function beginsWith(address: string, origin: string): boolean {
  const { length } = origin;
  return (
    address.startsWith(origin) &&
    (address.length === length || address.charCodeAt(length) === SLASH)
  );
}
