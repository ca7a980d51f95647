/**
 * Reads the built `.d.ts` files of our packages: what an entry exports, where it is declared, and what its doc comment
 * says. It follows `export { … } from` and `export { … }` of our own packages; `export *` does not occur there.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "vite";

/**
 * @typedef {{ file: string, name: string, statements: readonly Statement[] }} Declared
 * @typedef {{ node: any, text: string, doc: string, source: Source }} Statement
 * @typedef {{ text: string, program: any, comments: readonly any[] }} Source
 */

/** @type {Map<string, Source>} One entry for each file of the packages. */
const sources = new Map();

/** @param {string} file @returns {Source} */
export function sourceOf(file) {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0]?.message}`);
  const source = { text, program, comments };
  sources.set(file, source);
  return source;
}

/**
 * Every exported name of an entry with its declaration, in alphabetical order.
 *
 * @param {string} entry path of a `.d.ts` file
 * @param {(specifier: string) => string | undefined} entryOf the file of another package of ours
 * @returns {readonly Declared[]}
 */
export function exportsOf(entry, entryOf) {
  return [...namesOf(entry)]
    .map((name) => find(entry, name, entryOf))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function* namesOf(file) {
  for (const node of sourceOf(file).program.body) {
    if (node.type === "ExportAllDeclaration") throw new Error(`${file} has an export *`);
    if (node.type !== "ExportNamedDeclaration") continue;
    for (const { exported } of node.specifiers) yield exported.name;
    // Overloads of one function are one name.
    if (node.declaration !== null) yield* new Set(declaredNames(node.declaration));
  }
}

function find(file, name, entryOf) {
  const source = sourceOf(file);
  const statements = source.program.body
    .map((node) => ({ outer: node, node: node.declaration ?? node }))
    .filter(({ node }) => declaredNames(node).includes(name))
    .map(({ outer, node }) => statementOf(source, outer, node));
  if (statements.length > 0) return { file, name, statements };
  for (const node of source.program.body)
    for (const specifier of node.specifiers ?? []) {
      const isExport = node.type === "ExportNamedDeclaration";
      const seen = isExport ? specifier.exported.name : specifier.local.name;
      if (seen !== name || (!isExport && node.type !== "ImportDeclaration")) continue;
      const inner = isExport ? specifier.local.name : specifier.imported.name;
      // `export { x }` of a name that this file imports or declares.
      if (isExport && node.source === null && inner !== name)
        return { ...find(file, inner, entryOf), name };
      if (node.source === null) continue;
      return { ...find(resolve(file, node.source.value, entryOf), inner, entryOf), name };
    }
  throw new Error(`${file} exports ${name}, but no declaration was found`);
}

function resolve(file, specifier, entryOf) {
  const target = specifier.startsWith(".")
    ? join(dirname(file), specifier.replace(/\.[jt]s$/, ".d.ts"))
    : entryOf(specifier);
  if (target === undefined || !existsSync(target))
    throw new Error(`${file} imports ${specifier}, which is no file of ours`);
  return target;
}

function declaredNames(node) {
  if (node.type === "VariableDeclaration") return node.declarations.map(({ id }) => id.name);
  return node.id?.name === undefined ? [] : [node.id.name];
}

function statementOf(source, outer, node) {
  const text = source.text.slice(node.start, node.end);
  return { node, text, doc: docBefore(source, outer.start), source };
}

/** The text of the doc comment that ends right before `start`, without its stars; empty if there is none. */
export function docBefore({ text, comments }, start) {
  const comment = comments.findLast(({ end }) => end <= start);
  if (comment === undefined || comment.type !== "Block" || !comment.value.startsWith("*"))
    return "";
  if (text.slice(comment.end, start).trim() !== "") return "";
  return comment.value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd())
    .join("\n")
    .trim();
}

/** Source text on one line, without comments. */
export function plain(text) {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
