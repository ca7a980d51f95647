/** The site of the docs is whole: `npm run docs`. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildSite } from "../../scripts/docs/site/build.mjs";
import { pathOf } from "../tree.ts";
import { documents } from "./blocks.ts";

const out = mkdtempSync(join(tmpdir(), "sluice-site-"));
let pages: ReadonlyMap<string, string> = new Map();

beforeAll(() => {
  const built = buildSite({ root: pathOf("."), out });
  pages = new Map(built.map((page) => [page, readFileSync(join(out, page), "utf8")]));
});

afterAll(() => rmSync(out, { recursive: true }));

test("every document of docs/ is a page", () => {
  expect(pages.size).toBeGreaterThan(90);
  const missing = documents
    .filter((file) => file.startsWith("docs/"))
    .map((file) => file.slice("docs/".length).replace(/README\.md$/, "index.html"))
    .map((file) => file.replace(/\.md$/, ".html"))
    .filter((page) => !pages.has(page));
  expect(missing).toEqual([]);
});

test("every link of a page leads to a page, a file or a heading of the site", () => {
  const dead = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/(?:href|src)="(?!https?:|data:|mailto:)([^"]*)"/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  );
  expect(dead).toEqual([]);
});

test("no page loads anything from another host", () => {
  const foreign = [...pages].flatMap(([page, html]) =>
    [
      ...html.matchAll(/<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(?:https?:)?\/\/[^"]*"/g),
    ].map(([tag]) => `${page}: ${tag}`),
  );
  expect(foreign).toEqual([]);
});

test("the navigation has every page of the four needs", () => {
  const home = pages.get("index.html") ?? "";
  const needs = [...pages.keys()].filter((page) =>
    /^(?:tutorial|recipes\/|reference\/|explanation\/|migration\/)/.test(page),
  );
  expect(needs.length).toBeGreaterThan(50);
  expect(needs.filter((page) => !home.includes(`href="${page}"`))).toEqual([]);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const to = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(out, to))) return false;
  const html = pages.get(to);
  if (anchor === undefined || html === undefined) return true;
  return anchor === "text" || html.includes(` id="${anchor}"`);
}
