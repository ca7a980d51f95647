import type { HeaderSource } from "../hints/header-source.ts";

/** The parts of an HTTP answer that a verdict is made of. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: HeaderSource;
}

interface AnswerLike {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly headers?: unknown;
}

/** A `Response` of any make, or an object with a status code and an object of fields; else undefined. */
export function answerOf(value: unknown): HttpAnswer | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { status, statusCode = status, headers }: AnswerLike = value;
  const source = sourceOf(headers);
  if (typeof statusCode !== "number" || source === undefined) return undefined;
  return { status: statusCode, headers: source };
}

/** Fields that are read by name: a `Headers`, or an object of them. */
export function sourceOf(headers: unknown): HeaderSource | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (headers instanceof Headers) return headers;
  if (!isSource(headers)) return fieldsOf(headers);
  // Of another make, such as axios's: its values may be lists and numbers.
  return { get: (name) => textOf(headers.get(name)) };
}

/** No fields at all. */
export const NO_FIELDS: HeaderSource = { get: () => undefined };

function isSource(headers: object): headers is { get(name: string): unknown } {
  return "get" in headers && typeof headers.get === "function";
}

/** Fields in an object; names are compared without regard to case. */
function fieldsOf(headers: object): HeaderSource {
  const fields = hasSmallNames(headers) ? (headers as Fields) : withSmallNames(headers);
  return { get: (name) => textOf(fields[name]) };
}

/** A field that came twice counts as its first: two values at once would be none. */
function textOf(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first === "number") return String(first);
  return typeof first === "string" ? first : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Most clients give them so; then nothing has to be copied. */
function hasSmallNames(headers: object): boolean {
  for (const name in headers) if (name !== name.toLowerCase()) return false;
  return true;
}

function withSmallNames(headers: object): Fields {
  const fields = Object.entries(headers as Fields);
  return Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
}
