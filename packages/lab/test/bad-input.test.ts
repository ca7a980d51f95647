import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigError } from "@sluice/core";
import { loadScenario } from "@sluice/lab";

const bucket = (options: string): string => `kind: bucket\nbucket: ${options}\nsteps: []\n`;
const ramp = (rateLimit: string, calls = "[]"): string =>
  `kind: ramp\nrateLimit:\n  max: 10\n  ${rateLimit}\ncalls: ${calls}\n`;
const steps = (list: string): string => `kind: bucket\nbucket: { rate: 10 }\nsteps:\n${list}\n`;

/** What is wrong, the text, the line in the error, and words that its message must have. */
const WRONG: readonly [string, string, number, RegExp][] = [
  ["an unknown key", bucket("{ rate: 1, capactiy: 2 }"), 2, /bucket\.capactiy .*known.*capacity/],
  ["a key of every object", bucket("{ rate: 1, constructor: 2 }"), 2, /constructor .*not known/],
  ["a missing key", bucket("{ capacity: 2 }"), 2, /bucket\.rate is missing; expected a whole/],
  ["a negative rate", bucket("{ rate: -1 }"), 2, /rate is -1; expected a whole number from 1/],
  ["a rate that is no number", bucket("{ rate: .nan }"), 2, /rate is NaN; expected/],
  [
    "an infinite period",
    bucket("{ rate: 1, periodMs: .inf }"),
    2,
    /periodMs is Infinity; expected/,
  ],
  [
    "a time past all times",
    steps("  - { advanceMs: 1.0e+308 }"),
    4,
    /advanceMs is 1e\+308; expected/,
  ],
  ["a fraction of a token", bucket("{ rate: 0.5 }"), 2, /rate is 0\.5; expected a whole/],
  ["a number in quotes", bucket('{ rate: "10" }'), 2, /rate is "10"; expected/],
  [
    "a duration without unit",
    ramp("rampUpDuration: 10"),
    4,
    /is 10; expected a duration with its unit/,
  ],
  ["a wrong unit", ramp("rampUpDuration: 10 parsecs"), 4, /"10 parsecs"; expected .*10s/],
  ["min above max", ramp("min: 20"), 4, /min is more than max; expected at most 10/],
  [
    "a percentage of 250",
    ramp("modes: { onlyIfUsed: { thresholdPercentage: 250 } }"),
    4,
    /0 to 100/,
  ],
  ["two modes", ramp("modes: { relaxed: {}, scheduled: {} }"), 4, /several modes; expected one/],
  ["time that goes back", ramp("min: 1", "\n  - { t: 2 }\n  - { t: 1 }"), 7, /calls\[1\] .*order/],
  ["use and ask", ramp("min: 1", "\n  - { t: 2, use: 1, ask: 1 }"), 6, /both use and ask/],
  ["a deposit of nothing", ramp("min: 1", "\n  - { t: 2, deposit: 1 }"), 6, /without ask/],
  [
    "an unknown operation",
    steps("  - { op: tokens }\n  - { op: burn }"),
    5,
    /"burn"; expected tokens/,
  ],
  ["too many steps", steps("  - { repeat: 1000000000, steps: [{ op: tokens }] }"), 3, /more than/],
  ["a repeat of nothing", steps("  - { repeat: 5000000000, steps: [] }"), 3, /more than/],
  ["too many grants", manyGrants(), 4, /come to 6000000 grants; expected at most/],
  ["a key with a line break", '{"kind":"bucket",\n"a\\nb":1}', 2, /\["a\\nb"\] is not known/],
  ["a title of two lines", 'title: "a\\nb"\nkind: bucket\n', 1, /title .*; expected one line/],
  ["an alias of much", manyAliases(), 3, /more than 5000000 values/],
  ["an unknown kind", "title: x\nkind: buckte\n", 2, /"buckte"; expected one of bucket/],
  ["no kind", "title: x\n", 1, /kind is missing; expected one of bucket/],
  ["a list", "- kind: bucket\n", 1, /expected a map/],
  ["an empty file", "", 1, /empty; expected a map/],
  ["only a comment", "# nothing\n", 1, /empty; expected a map/],
  ["a key twice", "kind: bucket\nkind: ramp\n", 2, /the key "kind" stands twice/],
  ["tabs", "kind: bucket\nbucket:\n\trate: 1\n", 3, /not valid YAML: .*[Tt]ab/],
  ["an alias of nothing", "kind: bucket\nbucket: *b\n", 2, /alias must be defined/],
  ["an alias bomb", aliasBomb(), 2, /more than 5000000 values/],
  ["a prototype", bucket("\n  __proto__: { rate: 1 }"), 3, /__proto__ is not allowed/],
  ["a prototype in JSON", '{"kind":"bucket",\n"__proto__":{}}', 2, /__proto__ is not allowed/],
  ["an unknown key in JSON", '{"kind":"bucket",\n"bukket":{}}', 2, /bukket is not known/],
  ["much of a JSON", `{"kind":"bucket",${" ".repeat(600_000)}`, 1, /not valid JSON: /],
  ["fifty thousand keys", `kind: bucket\n${manyKeys(50_000)}`, 2, /k0 is not known/],
  ["an odd character", 'kind: bucket\n"a\\u009bb": 1\n', 2, /\["a\?b"\] is not known/],
  ["half a JSON", '{"kind":"bucket",\n"bucket":', 2, /not valid YAML/],
  [
    "1 MB of YAML",
    `kind: bucket\nsteps:\n${"  - { op: tokens }\n".repeat(55_000)}`,
    1,
    /bytes; expected at most/,
  ],
  ["deep YAML", `kind: bucket\nbucket: ${"[".repeat(20_000)}`, 2, /nested too deeply/],
  ["deep JSON", `{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}`, 1, /nested deeper than/],
  [
    "a path that is none",
    `${bucket("{ rate: 1 }")}expect: { "rows[": 1 }\n`,
    4,
    /such as rows\[4\]/,
  ],
  [
    "a range from high to low",
    `${bucket("{ rate: 1 }")}expect:\n  "rows[0].value": [2, 1]\n`,
    5,
    /expect\["rows\[0\]\.value"\] is \[2, 1\], a range whose low end is above .*write \[1, 2\]/,
  ],
  [
    "a wrong shape",
    "kind: busy\nrule: table\noffered: { shape: wavy }\n",
    3,
    /"wavy"; expected steady/,
  ],
  ["a wrong recovery", "kind: busy\nrule: table\nrecover: 3\n", 3, /3; expected \{ rate: 3 \} or/],
];

describe("a wrong scenario gets one line with file, line and what would be right", () => {
  test.each(WRONG)("%s", (_, text, line, words) => {
    const error = errorOf(text);
    expect(error.message).toMatch(words);
    expect(error.message).toMatch(/^a\.yaml:\d+: [^\n]+$/);
    expect(error.source).toEqual({ file: "a.yaml", line });
    expect(error.message.length).toBeLessThan(300);
  });
});

test("the first problem in the file is reported, and a wrong key rather than a missing one", () => {
  const two = errorOf("kind: bucket\nsteps: 1\nbucket: { rate: 0 }\n");
  const misspelt = errorOf("kind: bucket\nsteps: []\nbukket: { rate: 1 }\n");
  const behindAList = errorOf(`bukket: 1\n${steps("  - { op: x }\n".repeat(200))}`);
  expect(two.message).toMatch(/:2: steps is 1/);
  expect(behindAList.message).toMatch(/:1: bukket is not known/);
  expect(misspelt.message).toMatch(/:3: bukket is not known/);
});

test("any text is a scenario or a ConfigError, never another error", () => {
  const words = [
    "kind: bucket",
    "kind",
    ":",
    "{",
    "}",
    "[",
    "]",
    "*a",
    "&a",
    "- ",
    "\n",
    '"',
    "!!",
  ];
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc
      .array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 3 })))
      .map((all) => all.join("")),
    fc.json(),
  );
  fc.assert(
    fc.property(text, (each) => {
      try {
        loadScenario(each, "a.yaml");
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
      }
    }),
    { numRuns: 2000 },
  );
});

test("an anchor may be used often", async () => {
  const text = steps(`  - &ask { op: tokens }\n${"  - *ask\n".repeat(500)}`);
  expect((await loadScenario(text, "a.yaml").run()).rows).toHaveLength(501);
});

test("a byte order mark is no mistake", async () => {
  const json = '{"kind":"bucket","bucket":{"rate":1},"steps":[{"op":"tokens"}]}';
  for (const text of [json, "kind: bucket\nbucket: { rate: 1 }\nsteps: [{ op: tokens }]\n"]) {
    expect((await loadScenario(`\uFEFF${text}`, "a.yaml").run()).rows).toHaveLength(1);
  }
});

function aliasBomb(): string {
  const levels = ["a", "b", "c", "d", "e", "f", "g", "h"];
  return levels
    .map((name, i) => `${name}: &${name} [${`*${levels[i - 1] ?? ""}, `.repeat(i && 9)}x]`)
    .join("\n");
}

function manyKeys(count: number): string {
  return Array.from({ length: count }, (_, i) => `k${i}: 1\n`).join("");
}

function manyAliases(): string {
  const values = Array.from({ length: 100_000 }, () => "1").join();
  const aliases = Array.from({ length: 60 }, () => "*a").join();
  return `kind: bucket\nbucket: { rate: 1 }\na: &a [${values}]\nb: [${aliases}]\n`;
}

function manyGrants(): string {
  const calls = Array.from({ length: 6000 }, () => "{t: 1}").join();
  return `kind: ramp\nrateLimit: { max: 1 }\nmembers: 1000\ncalls: [${calls}]\n`;
}

function errorOf(text: string): ConfigError {
  try {
    loadScenario(text, "a.yaml");
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("the scenario was taken for right");
}
