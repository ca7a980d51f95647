import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { parseFileDocument } from "../file/document.ts";
import { readYaml } from "./read-yaml.ts";
import { writeYaml } from "./write-yaml.ts";

const SCENARIOS = new URL("../../../../scenarios/", import.meta.url);
const FILES = readdirSync(SCENARIOS).filter((name) => name.endsWith(".yaml"));

/** What the yaml package makes of a text, with the options of files; undefined if it refuses. */
function reference(text: string): { readonly value: unknown } | undefined {
  const document = parseDocument(text, { stringKeys: true, uniqueKeys: true });
  if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
  return { value: document.toJS() as unknown };
}

function accepted(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: readYaml(text, "a.yaml").value };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).toMatch(/^a\.yaml:\d+: found .+; expected .+/s);
    return undefined;
  }
}

describe("the small YAML reader", () => {
  it.each(FILES)("reads scenarios/%s as the yaml package does, with the same lines", (name) => {
    const text = readFileSync(new URL(name, SCENARIOS), "utf8");
    const small = readYaml(text, name);
    const whole = parseFileDocument(text, name);
    expect(small.value).toEqual(whole.value);
    for (const path of pathsIn(small.value)) expect(small.lineOf(path)).toBe(whole.lineOf(path));
  });

  it("reads whatever the writer writes as the same value, and so does the yaml package", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = writeYaml(value);
        expect(readYaml(text, "a.yaml").value).toEqual(value);
        expect(reference(text)?.value).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  it("means what the yaml package means by every text that it accepts", () => {
    const word = fc.constantFrom(
      ..."a b key - : , [ ] { } # & * ! | > ' \" % @ ` ? ~ null true True 1 -1 1.5 .5 1e3 0x1f .inf 10s \\ \t \n".split(
        /(?<=[^ ]) (?=[^ ])/,
      ),
      "\n  ",
      "\n- ",
      "\n  - ",
      ": ",
      " #",
      ", ",
      "- ",
      "--- ",
      "'a'",
      '"b"',
      "\r\n",
      "\u2028",
      "\u00a0",
      "\u0085",
      "<<",
    );
    let count = 0;
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 14 }).map((words) => words.join("")),
        (text) => {
          const ours = accepted(text);
          if (ours === undefined) return;
          count++;
          expect({ text, value: reference(text)?.value }).toEqual({ text, value: ours.value });
        },
      ),
      { numRuns: 10_000 },
    );
    expect(count).toBeGreaterThan(500);
  });

  it("means the same after any small change of a real scenario", () => {
    const texts = FILES.map((name) => readFileSync(new URL(name, SCENARIOS), "utf8").slice(0, 800));
    const change = fc.record({
      text: fc.constantFrom(...texts),
      at: fc.nat(800),
      cut: fc.nat(3),
      put: fc.constantFrom(
        "",
        " ",
        "\n",
        ":",
        ": ",
        "-",
        "- ",
        "#",
        " #",
        "{",
        "}",
        "[",
        "]",
        ",",
        "'",
        '"',
        "  ",
        "\t",
        "&a",
        "*a",
        "|",
      ),
    });
    fc.assert(
      fc.property(change, ({ text, at, cut, put }) => {
        const changed = text.slice(0, at) + put + text.slice(at + cut);
        const ours = accepted(changed);
        if (ours === undefined) return;
        expect({ changed, value: reference(changed)?.value }).toEqual({
          changed,
          value: ours.value,
        });
      }),
      { numRuns: 1_500 },
    );
  });

  it.each([
    ["a tab before a key", "a: 1\n\tb: 2\n", 2, "spaces instead of tabs"],
    ["an anchor", "a: &x 1\n", 1, "text in quotes"],
    ["text of several lines", "a: |\n  b\n", 1, "text in quotes"],
    ["a key that stands twice", "a: 1\nb: 2\na: 3\n", 3, "each key once in a map"],
    ["a bracket that is never closed", "a: { b: 1,\n  c: 2\n", 3, "a closing bracket"],
    ["a missing space after a colon", "a: { b:1 }\n", 1, "a colon and a value after b:1"],
    ["a second document", "a: 1\n---\nb: 2\n", 2, "one document without directives"],
    ["a quote that is never closed", "a: 'b\n", 1, "the closing quote on the same line"],
    ["a key that would change prototypes", "a: { __proto__: 1 }\n", 1, "another key"],
    ["lists nested without end", "[".repeat(200), 1, "at most 50 levels of nesting"],
    ["text that is too long", "a".repeat(600_000), 1, "at most 524288"],
  ])("refuses %s, with its line and what is expected", (_, text, line, expected) => {
    expect(() => readYaml(text, "a.yaml")).toThrow(ConfigError);
    try {
      readYaml(text, "a.yaml");
    } catch (error) {
      expect((error as Error).message).toContain(`a.yaml:${line}: `);
      expect((error as Error).message).toContain(expected);
    }
  });
});

function* pathsIn(value: unknown, path: (string | number)[] = []): Generator<(string | number)[]> {
  if (typeof value !== "object" || value === null) return;
  const children = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, child] of children) {
    yield [...path, key];
    yield* pathsIn(child, [...path, key]);
  }
}
