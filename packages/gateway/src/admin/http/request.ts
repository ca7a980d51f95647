import { InvariantError } from "@sluice/core";
import { nearest } from "@sluice/core/internal";
import type { Caller } from "./guard.ts";
import { integerOf, parseExactJson } from "./exact-json.ts";
import { HttpError } from "./http-error.ts";
import { decodeName, decodeSegment } from "./path.ts";

interface RequestParts {
  /** Still encoded. */
  readonly params: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly caller: Caller;
}

/** One request that has a route. Every reader throws an `HttpError` that says what is expected. */
export class AdminRequest {
  readonly caller: Caller;
  readonly #params: ReadonlyMap<string, string>;
  readonly #query: URLSearchParams;
  readonly #headers: Readonly<Record<string, string | undefined>>;
  readonly #body: Buffer;

  constructor({ params, query, headers, body, caller }: RequestParts) {
    this.caller = caller;
    this.#params = params;
    this.#query = query;
    this.#headers = headers;
    this.#body = body;
  }

  header(name: string): string | undefined {
    return this.#headers[name];
  }

  /** A parameter of the path, decoded by the rules of URLs. */
  param(name: string): string {
    return decodeSegment(this.#raw(name));
  }

  /** A topic's local name: clients encode it once, as a form field. */
  topicParam(name: string): string {
    return decodeName(this.#raw(name));
  }

  /** A subscription's name: clients encode it as a form field and then as a part of a path. */
  twiceEncodedParam(name: string): string {
    return decodeName(decodeSegment(this.#raw(name)));
  }

  wholeParam(name: string, min: number, max: number): number {
    return wholeWithin(name, this.param(name), min, max);
  }

  query(name: string): string | undefined {
    return this.#query.get(name) ?? undefined;
  }

  /** @throws HttpError for a key that is none of these: a misspelt one would be ignored silently. */
  requireKnownQuery(names: readonly string[]): void {
    for (const name of this.#query.keys()) {
      if (names.includes(name)) continue;
      const near = nearest(name, names);
      const advice = near === undefined ? "" : `did you mean ${near}? `;
      throw new HttpError(
        400,
        `the query has ${shown(name)}, which is not known here; ${advice}known: ${names.join(", ") || "none"}`,
      );
    }
  }

  /** False unless it is given as true, as Pulsar's defaults are. */
  flag(name: string): boolean {
    return this.#query.get(name)?.toLowerCase() === "true";
  }

  /** The body; undefined if there is none, or only `null`, which Go's client sends for none. */
  json(): unknown {
    const text = this.#body.toString("utf8").trim();
    if (text === "") return undefined;
    try {
      return parseExactJson(text) ?? undefined;
    } catch {
      throw new HttpError(400, "the body is not valid JSON");
    }
  }

  #raw(name: string): string {
    const value = this.#params.get(name);
    if (value === undefined) throw new InvariantError(`the route has no parameter ${name}`);
    return value;
  }
}

/** A whole number that came as a JSON number or as digits. */
export function wholeWithin(name: string, value: unknown, min: number, max: number): number {
  const integer = integerOf(value);
  if (integer === undefined || integer < BigInt(min) || integer > BigInt(max))
    throw new HttpError(
      400,
      `${name} is ${shown(value)}; it must be a whole number from ${min} to ${max}`,
    );
  return Number(integer);
}

/** A JSON object; what it holds beyond the known fields is ignored, as Pulsar does. */
export function objectOf(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new HttpError(400, `${name} is ${shown(value)}; it must be a JSON object`);
}

export function shown(value: unknown): string {
  const text = value === undefined ? "missing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
