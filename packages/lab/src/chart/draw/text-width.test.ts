import fc from "fast-check";
import { expect, test } from "vitest";
import { renderSvg } from "./svg.ts";
import { fitText, textWidth, wrapText } from "./text-width.ts";

const FONT = { size: 17, isBold: true };
const WORDS = fc.array(fc.constantFrom("a", "limit", "Workers", "10,000", "illi", "WWW"), {
  minLength: 1,
  maxLength: 40,
});

test("narrow letters take less room than wide ones", () => {
  expect(textWidth("illi", FONT)).toBeLessThan(textWidth("WWWW", FONT) / 2);
});

test("wrapped text keeps every word, and no line is too wide", () => {
  fc.assert(
    fc.property(WORDS, fc.integer({ min: 100, max: 800 }), (words, width) => {
      const lines = wrapText(words.join(" "), FONT, width);
      expect(lines.join(" ")).toBe(words.join(" "));
      for (const line of lines) expect(textWidth(line, FONT)).toBeLessThanOrEqual(width);
    }),
  );
});

test("text that fits is not shortened, and shortened text fits", () => {
  fc.assert(
    fc.property(WORDS, fc.integer({ min: 30, max: 800 }), (words, width) => {
      const text = words.join(" ");
      const fitted = fitText(text, FONT, width);
      if (textWidth(text, FONT) <= width) expect(fitted).toBe(text);
      else expect(textWidth(fitted, FONT)).toBeLessThanOrEqual(width);
    }),
  );
});

test("a long title is shown whole, on as many lines as it takes, at any width", () => {
  const title =
    "A pool under joins, a pause, a crash, a leave, and a store that fails in three ways";
  const panel = { y: { label: "v" }, series: [] };
  for (const width of [320, 390, 800]) {
    const svg = renderSvg({ title, x: { label: "t" }, ...panel }, { width });
    const lines = Array.from(svg.matchAll(/font-weight="600"[^>]*>([^<]*)</g), ([, line]) => line);
    expect(lines.join(" ")).toBe(title);
  }
});
