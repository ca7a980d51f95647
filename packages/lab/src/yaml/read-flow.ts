import type { Cursor } from "./cursor.ts";
import { listNode, mapNode } from "./node.ts";
import type { YamlNode } from "./node.ts";
import { readDoubleQuoted, readPlain } from "./scalar.ts";

/** Levels of nesting, as in files. */
export const DEPTH_MAX = 50;

/** A key longer than this is refused by YAML itself. */
const KEY_MAX = 1_000;

/** A list or map in brackets, a scalar in quotes or a plain scalar; `parent` is the indentation that it must stay right of. */
export function readInline(at: Cursor, parent: number, depth: number = 0): YamlNode {
  const line = at.row + 1;
  if (depth > DEPTH_MAX) at.refuse(at.rest, `at most ${DEPTH_MAX} levels of nesting`);
  if (at.char === "[") return readList(at, parent, depth);
  if (at.char === "{") return readMap(at, parent, depth);
  const { value } = readScalar(at, depth > 0);
  return { value, line };
}

/** A scalar, and whether it has quotes. */
export function readScalar(
  at: Cursor,
  isInFlow: boolean,
): { readonly value: unknown; readonly text: string; readonly isQuoted: boolean } {
  if (at.char === '"' || at.char === "'") {
    const text = readQuoted(at);
    return { value: text, text, isQuoted: true };
  }
  const text = plainText(at.rest, isInFlow);
  const reading = text === "" ? { expected: "a value" } : readPlain(text);
  if (!("value" in reading)) return at.refuse(text || at.rest, reading.expected);
  at.column += text.length;
  return { value: reading.value, text, isQuoted: false };
}

/** Text of a key: what it says, never a number or a truth value. */
export function keyOf(
  at: Cursor,
  { text }: { readonly text: string },
  known: { has(key: string): boolean },
): string {
  if (text.length > KEY_MAX) at.refuse(text, `a key of at most ${KEY_MAX} characters`);
  if (text === "__proto__" || text === "<<") at.refuse(text, "another key");
  if (known.has(text)) at.refuse(text, "each key once in a map");
  return text;
}

function readQuoted(at: Cursor): string {
  const { rest } = at;
  const quoted = (at.char === '"' ? /^"(?:[^"\\]|\\.)*"/ : /^'(?:[^']|'')*'/).exec(rest)?.[0];
  if (quoted === undefined) return at.refuse(rest, "the closing quote on the same line");
  const text =
    at.char === '"' ? readDoubleQuoted(quoted) : quoted.slice(1, -1).replaceAll("''", "'");
  if (text === undefined || /\p{Cc}/u.test(quoted))
    return at.refuse(
      quoted,
      "text without control characters, with escapes such as \\n and \\u0041",
    );
  at.column += quoted.length;
  return text;
}

/** Up to what ends a scalar without quotes. */
function plainText(rest: string, isInFlow: boolean): string {
  const end = isInFlow ? /:(?=[ ,[\]{}]|$)| #|[,[\]{}]/ : /:(?= |$)| #/;
  const found = end.exec(rest);
  return (found === null ? rest : rest.slice(0, found.index)).replace(/ +$/, "");
}

function readList(at: Cursor, parent: number, depth: number): YamlNode {
  const line = at.row + 1;
  const items: YamlNode[] = [];
  at.column++;
  for (;;) {
    skip(at, parent);
    if (at.char === "]") break;
    items.push(readInline(at, parent, depth + 1));
    skip(at, parent);
    if (at.char === ",") at.column++;
    else if (at.char !== "]") at.refuse(at.rest, "a comma or ]");
  }
  at.column++;
  return listNode(line, items);
}

function readMap(at: Cursor, parent: number, depth: number): YamlNode {
  const line = at.row + 1;
  const entries = new Map<string, YamlNode>();
  at.column++;
  for (;;) {
    skip(at, parent);
    if (at.char === "}") break;
    const keyLine = at.row + 1;
    const scalar = readScalar(at, true);
    const key = keyOf(at, scalar, entries);
    at.skipSpaces();
    if (!at.rest.startsWith(":")) at.refuse(at.rest, `a colon and a value after ${key}`);
    at.column++;
    // Only a key in quotes may have its value right after the colon.
    if (at.char !== " " && at.char !== "" && !scalar.isQuoted)
      at.refuse(at.rest, "a space after the colon");
    skip(at, parent);
    const { value, children } = readInline(at, parent, depth + 1);
    entries.set(key, { value, line: keyLine, ...(children && { children }) });
    skip(at, parent);
    if (at.char === ",") at.column++;
    else if (at.char !== "}") at.refuse(at.rest, "a comma or }");
  }
  at.column++;
  return mapNode(line, entries);
}

/** Over spaces, comments and ends of lines; what follows must be indented. */
function skip(at: Cursor, parent: number): void {
  const before = at.column;
  at.skipSpaces();
  if (at.char === "#" && at.column === before && before > 0)
    at.refuse(at.rest, "a space before a comment");
  if (at.char !== "" && at.char !== "#") return;
  at.nextContent();
  if (at.isAtEnd) at.refuse("", "a closing bracket");
  if (at.column <= parent)
    at.refuse(at.rest, `at least ${parent + 1} spaces before it, or a closing bracket above`);
}
