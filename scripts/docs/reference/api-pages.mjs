/** A page for each package: every exported name with its signature, doc comment and defaults. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { slugger } from "../slug.mjs";
import { exportsOf, plain } from "./declarations.mjs";
import { docParts, membersOf } from "./members.mjs";
import { cell, table } from "./markdown.mjs";

/** Entries for the packages of this repository alone; their names may change in any version. */
const INTERNAL = /\/internal$/;

/** @param {string} root of the repository @returns {Map<string, string>} text by path below `docs/reference/` */
export function apiPages(root) {
  const packages = readPackages(root);
  const entryOf = (/** @type {string} */ specifier) =>
    packages.flatMap(({ entries }) => entries).find((entry) => entry.name === specifier)?.file;
  const read = packages.map(({ name, entries }) => ({
    name,
    path: `api/${name.replace("@sluice/", "")}.md`,
    entries: entries
      .filter((entry) => !INTERNAL.test(entry.name))
      .map((entry) => ({ ...entry, exports: exportsOf(entry.file, entryOf) })),
  }));
  const places = placesOf(read);
  return new Map(read.map((page) => [page.path, pageOf(page, places)]));
}

/** Every interface and class of the public API, for the test of defaults. */
export function publicDeclarations(root) {
  const packages = readPackages(root);
  const entries = packages.flatMap((one) => one.entries);
  const entryOf = (/** @type {string} */ specifier) =>
    entries.find((entry) => entry.name === specifier)?.file;
  return entries
    .filter((entry) => !INTERNAL.test(entry.name))
    .flatMap((entry) =>
      exportsOf(entry.file, entryOf).map((declared) => ({ entry: entry.name, ...declared })),
    );
}

function readPackages(root) {
  return readdirSync(join(root, "packages"))
    .map((folder) => {
      const path = join(root, "packages", folder);
      const { name, exports } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
      const entries = Object.entries(exports ?? {}).map(([key, { types }]) => ({
        name: join(name, key),
        file: join(path, types),
      }));
      return { name, entries };
    })
    .filter(({ entries }) => entries.length > 0);
}

/** Where the heading of each declaration is. A name that two entries have is told apart by its file. */
function placesOf(pages) {
  const places = new Map();
  for (const { path, name: title, entries } of pages) {
    const slug = slugger();
    slug(title);
    for (const { name, exports } of entries) {
      slug(name);
      for (const declared of exports) {
        const place = { path, anchor: slug(declared.name) };
        places.set(`${name} ${declared.name}`, place);
        places.set(`${declared.file} ${declared.name}`, place);
        if (!places.has(declared.name)) places.set(declared.name, place);
      }
    }
  }
  return places;
}

function pageOf({ name, path, entries }, places) {
  const single = entries.length === 1;
  return [
    `# ${name}`,
    `What [\`${name}\`](../../../packages/${path.slice(4, -3)}/README.md) exports: every name with its type, its doc comment and its defaults. Generated from the types: \`npm run docs:reference\`.`,
    ...(single
      ? []
      : [
          table(
            ["entry", "names"],
            entries.map((entry) => [
              `[\`${entry.name}\`](#${slugger()(entry.name)})`,
              entry.exports
                .map((one) => `[\`${one.name}\`](#${anchorOf(entry, one, places)})`)
                .join(", "),
            ]),
          ),
        ]),
    ...entries.flatMap((entry) => [
      `## ${entry.name}`,
      ...entry.exports.flatMap((declared) => sectionOf(declared, { path, places })),
    ]),
    "",
  ].join("\n\n");
}

function anchorOf(entry, declared, places) {
  return places.get(`${entry.name} ${declared.name}`).anchor;
}

function sectionOf(declared, where) {
  const [statement] = declared.statements;
  const members = membersOf(statement);
  const isTable = members.length > 0;
  return [
    `### ${declared.name}`,
    ...[docParts(statement.doc).text].filter((doc) => doc !== ""),
    `\`\`\`typescript\n${declared.statements.map((one) => signatureOf(one, isTable)).join("\n")}\n\`\`\``,
    ...(isTable ? [memberTable(members)] : []),
    ...seeAlso(declared, where),
  ];
}

/** Without the members that the table has; else as it is declared, comments included. */
function signatureOf({ node, text, source }, isTable) {
  const bare = text.replace(/^(export )?(declare )?/, "");
  if (!isTable) return bare.replaceAll(/^ {4}/gm, "  ");
  const body = node.body ?? node.typeAnnotation;
  const head = source.text.slice(node.start, body.start).replace(/^(export )?(declare )?/, "");
  return `${plain(head)} { … }`;
}

function memberTable(members) {
  const hasDefaults = members.some(({ isOptional, isMethod }) => isOptional && !isMethod);
  const heads = ["member", "type", ...(hasDefaults ? ["default"] : []), "what"];
  const rows = members.map((member) => [
    `\`${member.isStatic ? "static " : ""}${member.name}${member.isOptional ? "?" : ""}\``,
    `\`${cell(member.type)}\``,
    ...(hasDefaults ? [defaultOf(member)] : []),
    cell(member.doc),
  ]);
  return table(heads, rows);
}

function defaultOf(member) {
  if (!member.isOptional) return member.isMethod ? "" : "required";
  return member.default === undefined ? "" : `\`${cell(member.default)}\``;
}

/** Links to the other declarations that the signature names. */
function seeAlso({ file, name, statements }, { path, places }) {
  const words = new Set(statements.flatMap(({ text }) => plain(text).match(/\b[A-Za-z]\w*\b/g)));
  const links = [...words]
    .filter((word) => word !== name && /^[A-Z]/.test(word))
    .map((word) => [word, places.get(`${file} ${word}`) ?? places.get(word)])
    .filter(([, place]) => place !== undefined)
    .map(([word, place]) => `[${word}](${linkTo(place, path)})`);
  return links.length === 0 ? [] : [`Types: ${links.toSorted().join(", ")}.`];
}

function linkTo(place, path) {
  return `${place.path === path ? "" : place.path.replace("api/", "")}#${place.anchor}`;
}
