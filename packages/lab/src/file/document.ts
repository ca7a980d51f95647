import { ConfigError } from "@sluice/core";
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import type { Document, Node } from "yaml";
import { show } from "./show.ts";
import { jsonLineOf } from "./json-lines.ts";
import type { Path } from "./path.ts";

/** The values of a file, and the line of each. */
export interface FileDocument {
  readonly value: unknown;
  /** The line of a key or item; for a missing one the line of its map. */
  lineOf(path: Path): number;
}

/**
 * Larger files are refused before they are parsed. YAML takes a second for what JSON does at once,
 * so long runs are generated as JSON.
 */
const YAML_MAX_BYTES = 512 * 1024;
const JSON_MAX_BYTES = 32 * 1024 * 1024;

/**
 * Values of a file, counted once per alias that refers to them: a short file can stand for
 * gigabytes.
 */
const VALUES_MAX = 5_000_000;

/** Levels of nesting. Scenarios and flow files need about ten; recursion fails at thousands. */
const MAX_DEPTH = 50;

/** Reads YAML or JSON. Throws a `ConfigError` with file and line if the text is neither. */
export function parseFileDocument(text: string, file: string): FileDocument {
  const json = parseJson(text, file);
  if (json !== undefined) {
    const document = { value: json, lineOf: (path: Path): number => jsonLineOf(text, path) };
    refuseOddities(document, file);
    return document;
  }
  requireSize(text, YAML_MAX_BYTES, file);
  const document = parseYaml(text, file);
  refuseOddities(document, file);
  return document;
}

function parseJson(text: string, file: string): unknown {
  // JSON.parse refuses a byte order mark; the YAML parser does not.
  const json = text.replace(/^\uFEFF/, "");
  if (!json.trimStart().startsWith("{")) return undefined;
  requireSize(text, JSON_MAX_BYTES, file);
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    // A YAML flow map begins with a brace too, and the YAML parser reports lines.
    if (Buffer.byteLength(text) <= YAML_MAX_BYTES) return undefined;
    const what = oneLine((cause as Error).message);
    throw new ConfigError(`not valid JSON: ${what}`, { file, line: 1 }, { cause });
  }
}

function requireSize(text: string, maxBytes: number, file: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return;
  const advice = `expected at most ${maxBytes}, or ${JSON_MAX_BYTES} as JSON`;
  throw new ConfigError(`the file has ${bytes} bytes; ${advice}`, { file, line: 1 });
}

/** What the parser says about itself, or about its functions, in other words. By its codes. */
const OWN_WORDS: ReadonlyMap<string, string> = new Map([
  ["RESOURCE_EXHAUSTION", "it is nested too deeply"],
  ["MULTIPLE_DOCS", "it has several documents; expected one, without a line ---"],
]);

function parseYaml(text: string, file: string): FileDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // The parser's own check takes a minute for a map of 50,000 keys; `refuseDoubleKeys` does not.
    uniqueKeys: false,
  });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const line = lineAt(lines, problem.pos[0]);
    const what = OWN_WORDS.get(problem.code) ?? oneLine(problem.message);
    throw new ConfigError(`not valid YAML: ${what}`, { file, line });
  }
  refuseDoubleKeys(document, lines, file);
  return {
    value: valueOf(document, lines, file),
    lineOf: (path) => lineAt(lines, offsetOf(document, path)),
  };
}

function refuseDoubleKeys(document: Document.Parsed, lines: LineCounter, file: string): void {
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const line = lineAt(lines, key.range?.[0] ?? 0);
          throw new ConfigError(`the key ${show(key.value)} stands twice in one map`, {
            file,
            line,
          });
        }
        seen.add(key.value);
      }
    },
  });
}

function valueOf(document: Document.Parsed, lines: LineCounter, file: string): unknown {
  try {
    // Aliased values are shared, not copied; `refuseOddities` counts them.
    return document.toJS({ maxAliasCount: -1 });
  } catch (cause) {
    let line = 1;
    visit(document, {
      Alias: (_, alias) => {
        if (alias.resolve(document) !== undefined) return undefined;
        line = lineAt(lines, alias.range?.[0] ?? 0);
        return visit.BREAK;
      },
    });
    const message = "an alias must be defined before it is used";
    throw new ConfigError(message, { file, line }, { cause });
  }
}

/** Refuses depths, sizes and keys that no file of ours has and that the schemas could not handle. */
function refuseOddities(document: FileDocument, file: string): void {
  let values = 0;
  const path: (string | number)[] = [];
  const refuse = (message: string): never => {
    throw new ConfigError(message, { file, line: document.lineOf(path.slice(0, MAX_DEPTH)) });
  };
  const walk = (value: unknown): void => {
    if (++values > VALUES_MAX) refuse(`the file has more than ${VALUES_MAX} values`);
    if (typeof value !== "object" || value === null) return;
    if (path.length > MAX_DEPTH) refuse(`the file is nested deeper than ${MAX_DEPTH} levels`);
    const step = (segment: string | number, child: unknown): void => {
      path.push(segment);
      if (segment === "__proto__") refuse("the key __proto__ is not allowed anywhere");
      walk(child);
      path.pop();
    };
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) step(i, value[i]);
    else for (const [key, child] of Object.entries(value)) step(key, child);
  };
  walk(document.value);
}

function offsetOf(document: Document.Parsed, path: Path): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const segment of path) {
    if (isAlias(node)) node = node.resolve(document) ?? null;
    if (isMap<Node, Node | null>(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === segment);
      if (pair === undefined) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq<Node>(node) && typeof segment === "number") {
      node = node.items[segment] ?? null;
      offset = node?.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

function lineAt(lines: LineCounter, offset: number): number {
  return Math.max(1, lines.linePos(offset).line);
}

function oneLine(message: string): string {
  return message.replaceAll(/[\s\p{Cc}]+/gu, " ");
}
