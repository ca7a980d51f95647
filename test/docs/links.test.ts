/** Links of all documents lead to files and headings that exist. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { slugger } from "../../scripts/docs/slug.mjs";
import { pathOf, read } from "../tree.ts";
import { documents } from "./blocks.ts";

interface Link {
  readonly file: string;
  readonly target: string;
}

/** Code is no link, wherever it stands. */
function proseOf(file: string): string {
  return read(file)
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "`code`");
}

const links: readonly Link[] = documents.flatMap((file) =>
  [...proseOf(file).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = ""]) => ({
    file,
    target,
  })),
);

function anchorsOf(file: string): ReadonlySet<string> {
  const slug = slugger();
  const text = read(file).replaceAll(/^```[\s\S]*?^```$/gm, "");
  return new Set([...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => slug(heading)));
}

const anchors = new Map(documents.map((file) => [file, anchorsOf(file)]));

test("there are links to check", () => {
  expect(links.length).toBeGreaterThan(300);
  expect(links.filter(({ target }) => target.includes("#")).length).toBeGreaterThan(100);
});

test("every link leads to a file", () => {
  const dead = links.filter(({ file, target }) => {
    const path = target.split("#")[0] ?? "";
    return path !== "" && !existsSync(pathOf(join(dirname(file), path)));
  });
  expect(dead).toEqual([]);
});

test("every anchor leads to a heading", () => {
  const dead = links.filter(({ file, target }) => {
    const [path = "", anchor] = target.split("#");
    if (anchor === undefined) return false;
    const to = path === "" ? file : join(dirname(file), path);
    return to.endsWith(".md") && anchors.get(to)?.has(anchor) !== true;
  });
  expect(dead).toEqual([]);
});

test("every page of the docs can be reached from their home", () => {
  const reached = new Set(["docs/README.md"]);
  for (const page of reached)
    for (const { file, target } of links)
      if (file === page) {
        const to = join(dirname(file), target.split("#")[0] ?? "");
        if (to.startsWith("docs/") && to.endsWith(".md")) reached.add(to);
      }
  const pages = documents.filter(
    (file) => file.startsWith("docs/") && !file.startsWith("docs/decisions/"),
  );
  expect(pages.filter((page) => !reached.has(page))).toEqual([]);
});
