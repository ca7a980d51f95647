import { ConfigError } from "@sluice/core";
import type { FileDocument } from "../file/document.ts";
import { Cursor } from "./cursor.ts";
import { lineOfPath, listNode, mapNode } from "./node.ts";
import type { YamlNode } from "./node.ts";
import { DEPTH_MAX, keyOf, readInline, readScalar } from "./read-flow.ts";

/** Characters of a text, as many as the file reader takes bytes of YAML. */
const TEXT_MAX = 512 * 1024;

/**
 * Reads the part of YAML that scenarios are written in: block and flow maps and lists, comments, quotes on one
 * line, numbers and words. What it accepts means the same to the `yaml` package, which weighs 36 kB in a browser;
 * anchors, tags, text of several lines and several documents are refused with their line.
 *
 * @throws ConfigError with file and line, what was found and what is expected
 */
export function readYaml(text: string, file: string): FileDocument {
  if (text.length > TEXT_MAX)
    throw new ConfigError(`found ${text.length} characters; expected at most ${TEXT_MAX}`, {
      file,
      line: 1,
    });
  const at = new Cursor(text, file);
  at.toContent();
  const root: YamlNode = at.isAtEnd ? { value: null, line: 1 } : new BlockReader(at).document();
  return { value: root.value, lineOf: (path) => lineOfPath(root, path) };
}

class BlockReader {
  readonly #at: Cursor;
  #depth = 0;

  constructor(at: Cursor) {
    this.#at = at;
  }

  document(): YamlNode {
    const at = this.#at;
    if (/^(?:%|---|\.\.\.)/.test(at.line)) at.refuse(at.line, "one document without directives");
    const node = this.#block(-1);
    if (!at.isAtEnd)
      at.refuse(at.rest, "the end of the text, or the indentation of what stands above");
    return node;
  }

  /** What begins at the cursor, right of `parent`, and goes on in lines with the same indentation. */
  #block(parent: number): YamlNode {
    const at = this.#at;
    if (++this.#depth > DEPTH_MAX) at.refuse(at.rest, `at most ${DEPTH_MAX} levels of nesting`);
    const node = this.#blockAt(parent);
    this.#depth--;
    return node;
  }

  #blockAt(parent: number): YamlNode {
    const at = this.#at;
    this.#refuseMarks();
    if (isDash(at.rest)) return this.#list();
    if (isKey(at.rest)) return this.#map();
    const node = readInline(at, parent);
    at.requireLineEnd();
    at.nextContent();
    return node;
  }

  #list(): YamlNode {
    const at = this.#at;
    const { column } = at;
    const line = at.row + 1;
    const items: YamlNode[] = [];
    while (!at.isAtEnd && at.column === column && isDash(at.rest)) {
      const itemLine = at.row + 1;
      at.column++;
      items.push(this.#valueAfterMark(column, false) ?? { value: null, line: itemLine });
    }
    this.#requireOutdent(column);
    return listNode(line, items);
  }

  #map(): YamlNode {
    const at = this.#at;
    const { column } = at;
    const line = at.row + 1;
    const entries = new Map<string, YamlNode>();
    while (!at.isAtEnd && at.column === column) {
      this.#refuseMarks();
      if (isDash(at.rest) || !isKey(at.rest)) at.refuse(at.rest, "a key and a colon");
      const keyLine = at.row + 1;
      const key = keyOf(at, readScalar(at, false), entries);
      at.skipSpaces();
      at.column++;
      const node = this.#valueAfterMark(column, true);
      entries.set(key, {
        value: node?.value ?? null,
        line: keyLine,
        ...(node?.children && { children: node.children }),
      });
    }
    this.#requireOutdent(column);
    return mapNode(line, entries);
  }

  /**
   * What follows a dash or a colon: on the same line, or in lines further right. A list may stand at the column
   * of its key. Undefined if there is nothing.
   */
  #valueAfterMark(column: number, isOfKey: boolean): YamlNode | undefined {
    const at = this.#at;
    const before = at.column;
    at.skipSpaces();
    const isComment = at.char === "#" && at.column > before;
    if (at.char !== "" && !isComment) {
      if (!isOfKey) return this.#block(column);
      const node = readInline(at, column);
      at.requireLineEnd();
      at.nextContent();
      return node;
    }
    at.nextContent();
    if (at.isAtEnd) return undefined;
    const isListOfKey = isOfKey && at.column === column && isDash(at.rest);
    return at.column > column || isListOfKey ? this.#block(column) : undefined;
  }

  #requireOutdent(column: number): void {
    const at = this.#at;
    if (!at.isAtEnd && at.column > column)
      at.refuse(at.rest, `${column} spaces before it, or a value on one line`);
  }

  #refuseMarks(): void {
    const at = this.#at;
    if (at.column === 0 && /^(?:%|---|\.\.\.)/.test(at.line))
      at.refuse(at.line, "one document without directives");
    if (at.char === "\t") at.refuse(at.rest, "spaces instead of tabs");
  }
}

function isDash(rest: string): boolean {
  return rest === "-" || rest.startsWith("- ");
}

/** Whether a key begins here: a scalar that a colon and a space, or the end of the line, follow. */
function isKey(rest: string): boolean {
  return /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*') *:(?: |$)/.test(rest) || isPlainKey(rest);
}

function isPlainKey(rest: string): boolean {
  if (/^["'[\]{}#,&*!|>%@`]/.test(rest)) return false;
  const comment = rest.indexOf(" #");
  return /:(?: |$)/.test(comment === -1 ? rest : rest.slice(0, comment));
}
