/** The site of the docs in Chromium: readable, reachable, and alone. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildSite } from "../../../scripts/docs/site/build.mjs";
import { pathOf } from "../../../test/tree.ts";
import { seriousFindings } from "./browser/axe.ts";
import { chromiumPath, NEEDS_CHROMIUM, useBrowser } from "./browser/browser.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".png": "image/png",
};
/** One page of each kind: home, programs, tables, hundreds of headings. */
const PAGES = [
  "index.html",
  "tutorial.html",
  "reference/flow-file.html",
  "reference/api/egress.html",
];

describe.skipIf(chromiumPath === undefined)(`the site of the docs${NEEDS_CHROMIUM}`, () => {
  const { open } = useBrowser();
  const out = mkdtempSync(join(tmpdir(), "sluice-site-"));
  let server: Server | undefined;
  let origin = "";

  beforeAll(async () => {
    buildSite({ root: pathOf("."), out });
    server = createServer((request, response) => {
      const path = join(out, request.url ?? "/");
      if (!existsSync(path)) return response.writeHead(404).end();
      return response
        .setHeader("content-type", TYPES[extname(path)] ?? "text/plain")
        .end(readFileSync(path));
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
    rmSync(out, { recursive: true });
  });

  test.each(
    PAGES.flatMap((path) => [[path, 360, "light"] as const, [path, 1440, "dark"] as const]),
  )(
    "%s at %i px, %s: nothing serious for axe-core, no sideways scroll, no other host",
    async (path, width, theme) => {
      const { page, errors, strangers } = await open(`${origin}/${path}`, { width, theme });
      expect(await seriousFindings(page)).toEqual([]);
      const [scrolled, shown] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollWidth, innerWidth]",
      );
      expect(scrolled).toBeLessThanOrEqual(shown);
      expect([errors, strangers]).toEqual([[], []]);
    },
  );

  test("the search finds a heading by its words, from the keyboard", async () => {
    const { page, strangers } = await open(`${origin}/migration/vector.html`);
    await page.keyboard.press("/");
    await page.keyboard.type("openai tokens");
    await page.locator("#results a").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${origin}/recipes/calls/openai.html`);
    expect(await page.locator("h1").textContent()).toContain("OpenAI");
    expect(strangers).toEqual([]);
  });

  test("a chosen theme stays on the next page", async () => {
    const { page } = await open(`${origin}/index.html`, { theme: "dark" });
    const colour = (): Promise<string> =>
      page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    const dark = await colour();
    await page.click("#theme");
    const light = await colour();
    await page.goto(`${origin}/tutorial.html`);
    expect(light).not.toBe(dark);
    expect(await colour()).toBe(light);
  });
});
