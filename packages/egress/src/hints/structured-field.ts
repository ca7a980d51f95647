/** A list of strings with parameters: the part of RFC 9651 that the rate limit fields are made of. */
import { InvariantError } from "@sluice/core";

/** `bytes` are kept as base64, one spelling for each sequence, so that they compare as text. */
export type SentParameter =
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "integer"; readonly value: number }
  | { readonly kind: "bytes"; readonly base64: string };

/** `other`: well-formed, and of a type that no field here has a use for. */
export type Parameter = SentParameter | { readonly kind: "other" };

/** One member of a list. */
export interface ListItem<P extends Parameter = Parameter> {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, P>;
}

/** As much as Node takes for all the fields of a message, so nothing well-formed is lost. */
const FIELD_MAX_CHARS = 16_384;

/** Integers have at most 15 digits. */
export const INTEGER_MAX = 999_999_999_999_999;

const SPACES = / */y;
const BLANKS = /[ \t]*/y;
const COMMA = /,/y;
const SEMICOLON = /;/y;
const EQUALS = /=/y;
const KEY = /[a-z*][a-z0-9_.*-]*/y;
const STRING = /"((?:[ !#-[\]-~]|\\["\\])*)"/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const BYTES = /:([A-Za-z0-9+/]*)={0,2}:/y;
const DECIMAL = /-?\d{1,12}\.\d{1,3}(?!\d)/y;
const TOKEN = /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y;
const BOOLEAN = /\?[01]/y;
const DATE = /@-?\d{1,15}(?![\d.])/y;
const DISPLAY_STRING = /%"((?:[ !#$&-~]|%[0-9a-f]{2})*)"/y;

/** The members in order, or `undefined` unless all of the text is such a list. */
export function parseStringList(text: string): readonly ListItem[] | undefined {
  if (text.length > FIELD_MAX_CHARS) return undefined;
  const cursor = new Cursor(text);
  cursor.take(SPACES);
  const items: ListItem[] = [];
  while (!cursor.isAtEnd()) {
    const item = parseItem(cursor);
    if (item === undefined) return undefined;
    items.push(item);
    cursor.take(BLANKS);
    if (cursor.isAtEnd()) return items;
    if (cursor.take(COMMA) === undefined) return undefined;
    cursor.take(BLANKS);
    // Nothing follows a comma at the end.
    if (cursor.isAtEnd()) return undefined;
  }
  return items;
}

/** Throws an InvariantError for what such a list cannot hold: only ASCII, at most 15 digits. */
export function formatStringList(items: readonly ListItem<SentParameter>[]): string {
  return items.map(formatItem).join(", ");
}

function parseItem(cursor: Cursor): ListItem | undefined {
  const value = cursor.take(STRING)?.[1];
  if (value === undefined) return undefined;
  const parameters = new Map<string, Parameter>();
  while (cursor.take(SEMICOLON) !== undefined) {
    cursor.take(SPACES);
    const key = cursor.take(KEY)?.[0];
    if (key === undefined) return undefined;
    // A parameter without a value is the boolean true.
    const hasValue = cursor.take(EQUALS) !== undefined;
    const parameter = hasValue ? parseParameter(cursor) : OTHER;
    if (parameter === undefined) return undefined;
    // The last of several wins.
    parameters.set(key, parameter);
  }
  return { value: unescape(value), parameters };
}

const OTHER: Parameter = { kind: "other" };

function parseParameter(cursor: Cursor): Parameter | undefined {
  const integer = cursor.take(INTEGER)?.[0];
  // Adding 0 makes 0 of -0.
  if (integer !== undefined) return { kind: "integer", value: Number(integer) + 0 };
  const string = cursor.take(STRING)?.[1];
  if (string !== undefined) return { kind: "string", value: unescape(string) };
  const bytes = cursor.take(BYTES)?.[1];
  if (bytes !== undefined) {
    const base64 = canonicalBase64(bytes);
    return base64 === undefined ? undefined : { kind: "bytes", base64 };
  }
  const display = cursor.take(DISPLAY_STRING)?.[1];
  if (display !== undefined) return isUtf8(display) ? OTHER : undefined;
  const isOther = [DECIMAL, TOKEN, BOOLEAN, DATE].some((form) => cursor.take(form) !== undefined);
  return isOther ? OTHER : undefined;
}

function formatItem({ value, parameters }: ListItem<SentParameter>): string {
  const formatted = [...parameters].map(([key, parameter]) => {
    mustHold(matches(KEY, key), `${key} is no key of a parameter`);
    return `;${key}=${formatParameter(parameter)}`;
  });
  return formatString(value) + formatted.join("");
}

function formatParameter(parameter: SentParameter): string {
  switch (parameter.kind) {
    case "string":
      return formatString(parameter.value);
    case "integer":
      mustHold(
        Number.isInteger(parameter.value) && Math.abs(parameter.value) <= INTEGER_MAX,
        `${parameter.value} is not a whole number of at most 15 digits`,
      );
      return String(parameter.value);
    case "bytes": {
      const base64 = canonicalBase64(parameter.base64.replace(/={1,2}$/, ""));
      mustHold(base64 !== undefined, `${parameter.base64} is no base64`);
      return `:${base64}:`;
    }
  }
}

function formatString(value: string): string {
  const formatted = `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  mustHold(matches(STRING, formatted), "a string in a field is printable ASCII");
  return formatted;
}

function unescape(value: string): string {
  return value.replaceAll(/\\(.)/g, "$1");
}

/** Padding and the bits it hides may be written in several ways; this is the usual one. */
function canonicalBase64(unpadded: string): string | undefined {
  if (unpadded.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(unpadded)) return undefined;
  return btoa(atob(unpadded));
}

function isUtf8(percentEncoded: string): boolean {
  try {
    decodeURIComponent(percentEncoded);
    return true;
  } catch {
    return false;
  }
}

function matches(form: RegExp, text: string): boolean {
  return new Cursor(text).take(form)?.[0] === text;
}

function mustHold(holds: boolean, what: string): asserts holds {
  if (!holds) throw new InvariantError(what);
}

class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** Moves behind what `form` finds here; `form` is sticky. */
  take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at = form.lastIndex;
    return found;
  }
}
