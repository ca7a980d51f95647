import type { Path } from "./path.ts";

/**
 * The line of a key or item in text that is valid JSON, or of the last part of its path that is
 * there. Walks along the path and skips what lies beside it, so a large file takes no parser.
 */
export function jsonLineOf(text: string, path: Path): number {
  let at = skipSpace(text, 0);
  let found = at;
  for (const segment of path) {
    const place = text[at] === "{" ? findKey(text, at, segment) : findItem(text, at, segment);
    if (place === undefined) break;
    found = place.offset;
    at = place.value;
  }
  return text.slice(0, found).split("\n").length;
}

interface Place {
  /** Where the key or the item begins. */
  readonly offset: number;
  readonly value: number;
}

/** The last one if the key occurs twice, as in `JSON.parse`. */
function findKey(text: string, object: number, key: string | number): Place | undefined {
  let found: Place | undefined;
  let at = skipSpace(text, object + 1);
  while (text[at] === '"') {
    const end = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (JSON.parse(text.slice(at, end)) === key) found = { offset: at, value };
    at = skipComma(text, skipValue(text, value));
  }
  return found;
}

function findItem(text: string, list: number, index: string | number): Place | undefined {
  if (text[list] !== "[") return undefined;
  let at = skipSpace(text, list + 1);
  for (let i = 0; text[at] !== "]" && at < text.length; i++) {
    if (i === index) return { offset: at, value: at };
    at = skipComma(text, skipValue(text, at));
  }
  return undefined;
}

function skipValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = skipString(text, at) - 1;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    else if (char === "," && depth === 0) return at;
    if (depth < 0) return at;
  }
  return text.length;
}

function skipString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"' && at < text.length) at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function skipComma(text: string, at: number): number {
  const next = skipSpace(text, at);
  return text[next] === "," ? skipSpace(text, next + 1) : next;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && " \n\r\t".includes(text[at] as string)) at++;
  return at;
}
