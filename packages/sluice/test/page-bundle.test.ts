import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";

const page = new URL("../page/", import.meta.url);
const bundle = new URL("../dist/page/", import.meta.url);

/**
 * Bytes, gzipped: all pages but the lab, then what the lab loads on top. It opens with the simulator of its first tab;
 * each other tab loads its own when it is first chosen. All of them are the real limiters, so together they are more.
 */
const PAGES_MAX = 150_000;
const LAB_FIRST_MAX = 45_000;
const LAB_KIND_MAX = 20_000;
const LAB_ALL_MAX = 100_000;
const PAGES = /^index-/;
const LAB_FIRST = /^(?:lab-|link-|ramp-|rate-limit-)/;
const SHARED_MAX = 2_000;

test("the style sheet has the values of the tokens, the dark ones by default", () => {
  const tokens = JSON.parse(readFileSync(new URL("src/style/tokens.json", page), "utf8")) as {
    readonly dark: object;
    readonly light: object;
  };
  const css = readFileSync(new URL("src/style/tokens.css", page), "utf8");
  const blocks = [...css.matchAll(/\{([^{}]*)\}/g)].map(
    ([, block = ""]) =>
      new Map(
        [...block.matchAll(/--([\w-]+): (#\w+);/g)].map(
          ([, name, value]) => [name, value] as const,
        ),
      ),
  );
  const wanted = [tokens.dark, tokens.light, tokens.light];
  expect(blocks).toEqual(wanted.map((colors) => new Map(Object.entries(colors))));
});

describe.skipIf(!existsSync(bundle))("the bundle, if it is built", () => {
  const assets = existsSync(bundle) ? readdirSync(new URL("assets/", bundle)) : [];
  const size = (names: readonly string[]): number =>
    names.reduce(
      (sum, name) => sum + gzipSync(readFileSync(new URL(`assets/${name}`, bundle))).length,
      0,
    );

  test("takes at most 150 kB, the lab with its first tab 45 kB more, each other tab 20 kB, and all 100 kB", () => {
    const lab = assets.filter((name) => name.endsWith(".js") && !PAGES.test(name));
    expect(size(assets.filter((name) => !lab.includes(name)))).toBeLessThan(PAGES_MAX);
    const rest = lab.filter((name) => !LAB_FIRST.test(name));
    // Parts that several kinds share are small, and the first tab may need any of them.
    const shared = rest.filter((name) => size([name]) < SHARED_MAX);
    expect(size([...lab.filter((name) => LAB_FIRST.test(name)), ...shared])).toBeLessThan(
      LAB_FIRST_MAX,
    );
    for (const name of rest) expect(size([name]), name).toBeLessThan(LAB_KIND_MAX);
    expect(size(lab)).toBeLessThan(LAB_ALL_MAX);
  });

  test("names no other host and has no inline script or style", () => {
    const html = readFileSync(new URL("index.html", bundle), "utf8");
    expect(html).not.toMatch(/https?:|<style|style=|<script(?![^>]*\bsrc=)|\son\w+=/);
    for (const name of assets.filter((one) => /\.(js|css)$/.test(one)))
      expect(readFileSync(new URL(`assets/${name}`, bundle), "utf8"), name).not.toMatch(
        /["'(]https?:\/\/(?!www\.w3\.org\/)[\w.-]+\.[a-z]{2,}/,
      );
  });
});
