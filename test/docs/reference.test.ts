/** The reference is what the code says. */
import { expect, test } from "vitest";
import { publicDeclarations } from "../../scripts/docs/reference/api-pages.mjs";
import { docParts, membersOf } from "../../scripts/docs/reference/members.mjs";
import { referencePages } from "../../scripts/docs/reference/pages.mjs";
import { filesIn, pathOf, read } from "../tree.ts";
import { isGenerated } from "./blocks.ts";

/** Types whose optional members a user sets. */
const SETTINGS = /(?:Options|Settings|Runtime)$/;
/** A comment that says what happens without the member. */
const SAYS_DEFAULT = /\bdefault\b|unless|without|absent|undefined|not given|left out/i;

test("every generated page is what would be generated; else run npm run docs:reference", async () => {
  const pages = await referencePages();
  const committed = filesIn("docs/reference/").filter(isGenerated);
  expect(committed.toSorted()).toEqual([...pages.keys()].toSorted());
  for (const [path, text] of pages) expect(read(path) === text, path).toBe(true);
});

test("every name of the public API has a heading in the reference", () => {
  const listed = read("test/public-api.txt")
    .split("\n\n")
    .map((block) => block.trim().split("\n"))
    .filter(([entry = ""]) => !entry.endsWith("/internal"));
  const missing = listed.flatMap(([entry = "", ...names]) => {
    const page = read(`docs/reference/api/${entry.split("/")[1]}.md`);
    const section = page.split(`\n## ${entry}\n`)[1]?.split(/^## /m)[0] ?? "";
    return names
      .map((name) => name.trim())
      .filter((name) => !section.includes(`\n### ${name}\n`))
      .map((name) => `${entry} ${name}`);
  });
  expect(missing).toEqual([]);
});

test("every optional setting of the public API names its default, or says what its absence means", () => {
  const settings = publicDeclarations(pathOf(".")).filter(({ name }) => SETTINGS.test(name));
  const optional = settings.flatMap(({ entry, name, statements }) =>
    statements
      .flatMap((statement) => membersOf(statement))
      .filter((member) => member.isOptional)
      .map((member) => ({ place: `${entry} ${name}.${member.name}`, member })),
  );
  expect(optional.length).toBeGreaterThan(300);
  const silent = optional.filter(
    ({ member }) => member.default === undefined && !SAYS_DEFAULT.test(member.doc),
  );
  expect(silent.map(({ place }) => place)).toEqual([]);
});

test.each([
  ["Most calls. Default: 1000.", "1000"],
  ["Most calls.\n\n@default 200", "200"],
  ["`sluice` unless given.", "sluice"],
  ["Default: `a.b`; but `off` with an adaptive one.", "a.b"],
  ["The part of a bucket. Default: 2.5.", "2.5"],
  ["What a call costs.", undefined],
])("the default of %j is read", (doc, expected) => {
  expect(docParts(doc).default).toBe(expected);
});
