import { loadScenario, runScenario, writeYaml } from "@sluice/lab/browser";
import { loadScenario as loadFile } from "@sluice/lab";
import { describe, expect, it } from "vitest";
import { presetState } from "../model/state.ts";
import type { Document } from "../model/document.ts";
import type { Figure } from "../model/kind.ts";
import { compare } from "./figures.ts";
import { LAB_KINDS } from "./kinds.ts";

const PRESETS = LAB_KINDS.flatMap((kind) =>
  kind.presets.map((preset) => ({ name: `${kind.name}: ${preset.name}`, kind, preset })),
);

async function outcomeOf(
  document: Document,
): Promise<{ rows: readonly Record<string, unknown>[]; stats: unknown }> {
  const { result } = await runScenario(await loadScenario(writeYaml(document), "a.yaml"));
  return { rows: result.rows as readonly Record<string, unknown>[], stats: result.stats };
}

describe("the tabs of the lab", () => {
  it.each(PRESETS)(
    "$name runs on both sides and is told in a sentence and in figures",
    async ({ kind, preset }) => {
      const { a, b } = presetState(kind, preset);
      const figuresA = kind.figures(await outcomeOf(a), a);
      const figuresB = kind.figures(await outcomeOf(b), b);
      expect(figuresA.length).toBeGreaterThanOrEqual(4);
      for (const { value } of figuresA) expect(Number.isNaN(value)).toBe(false);
      const sentence = kind.sentence(figuresA, figuresB);
      expect(sentence[0]).toMatch(/^(?:B |A and B)/);
      expect(sentence.join("")).toMatch(/\.$/);
      expect(sentence.join("")).not.toMatch(/undefined|NaN/);
    },
  );

  it.each(PRESETS)(
    "the scenario of $name is one that the command line takes",
    ({ kind, preset }) => {
      const { a, b } = presetState(kind, preset);
      for (const document of [a, b])
        expect(() => loadFile(writeYaml(document), "a.yaml")).not.toThrow();
    },
  );

  it("every number of every tab reads back what was set", () => {
    for (const kind of LAB_KINDS)
      for (const field of kind.fields) {
        const { a } = presetState(kind, kind.presets[0] ?? { name: "", a: {}, b: {} });
        if ("words" in field || field.isUsed?.(a) === false) continue;
        expect([field.label, field.get(field.set(a, field.most))]).toEqual([
          field.label,
          field.most,
        ]);
      }
  });

  it("a better value is called better in both directions, and a trade-off has no verdict", () => {
    expect(compare(figure(10, 1), figure(12, 1)).text).toBe("+20 %, better");
    expect(compare(figure(10, -1), figure(12, -1)).text).toBe("+20 %, worse");
    expect(compare(figure(10, 0), figure(12, 0)).text).toBe("+20 %");
    expect(compare(figure(10, 1), figure(10, 1)).text).toBe("same");
  });
});

function figure(value: number, better: Figure["better"]): Figure {
  return { name: "x", value, text: String, better };
}
