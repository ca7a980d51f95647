/** Every code block of a document runs, is checked by the program that reads it, or says why not. */
import { parseSync } from "vite";
import { parse, parseAllDocuments } from "yaml";
import { describe, expect, test } from "vitest";
import { loadFlow } from "../../packages/sluice/src/flow/flow-file.ts";
import { blocks, commandsOf, isGenerated } from "./blocks.ts";
import type { Block } from "./blocks.ts";

/** What a block may be. Blocks of `ts`, scenarios and `npx sluice` are run by `test/docs.test.ts`. */
const LANGUAGES = new Set(["", "console", "js", "json", "python", "sh", "text", "ts", "yaml"]);

/** Blocks that say that they are not run; a new one raises this number, and a review asks why. */
const NOT_RUN_MAX = 6;

/** Commands that a test of a document does not start, and where they are run instead. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^npm (?:init|i|install|ci)\b/, "packages/sluice/test/tarballs.slow.test.ts"],
  [/^npm (?:start|test|run [\w:]+)\b/, "packages/sluice/test/quickstart.slow.test.ts, CI"],
  [
    /^(?:npx sluice|sluice) (?:init|run|check|schema|why|top|limits)\b/,
    "packages/sluice/test/docs-commands.slow.test.ts",
  ],
  [/^(?:npx sluice|sluice) (?:simulate|broker|completion)\b/, "test/docs.test.ts"],
  [/^prometheus\b/, "interop/prometheus.interop.test.ts"],
  [
    /^(?:docker|kubectl)\b/,
    "no container engine: the files are checked in packages/sluice/test/deploy.test.ts",
  ],
  [/^curl\b/, "packages/sluice/test/docs-commands.slow.test.ts"],
  [/^node [\w-]+\.mjs\b/, "packages/sluice/test/docs-programs.slow.test.ts"],
  [/^npx vitest\b|^SEED=|^node scripts\/|^model\/run\.sh/, "CONTRIBUTING: the tests themselves"],
  [/^pulsar-admin\b/, "interop/pulsar-admin.interop.test.ts"],
  [/^OTEL_\w+=\S+ sluice run\b/, "packages/sluice/test/otlp.slow.test.ts"],
];

const written = blocks.filter(({ file }) => !isGenerated(file));
const run = written.filter(({ notRun }) => notRun === undefined);
const of = (language: string): readonly Block[] => run.filter((one) => one.language === language);
const placeOf = ({ file, line }: Block): string => `${file}:${line}`;

test("every block has a language that is checked", () => {
  expect(written.filter(({ language }) => !LANGUAGES.has(language)).map(placeOf)).toEqual([]);
});

test("few blocks are not run, and each says why", () => {
  const marked = blocks.filter(({ notRun }) => notRun !== undefined);
  expect(marked.length).toBeLessThanOrEqual(NOT_RUN_MAX);
  for (const block of marked) expect(block.notRun?.length, placeOf(block)).toBeGreaterThan(10);
});

test("generated pages have only blocks of types, texts and flow files", () => {
  const languages = new Set(
    blocks.filter(({ file }) => isGenerated(file)).map(({ language }) => language),
  );
  expect([...languages].toSorted()).toEqual(["text", "typescript", "yaml"]);
});

describe("YAML", () => {
  test.each(of("yaml").map((block) => [placeOf(block), block] as const))(
    "%s is right",
    (_place, { file, text }) => {
      const documentsOf = parseAllDocuments(text);
      expect(documentsOf.flatMap(({ errors }) => errors)).toEqual([]);
      const keys = Object.keys((parse(text) ?? {}) as object);
      if (keys.includes("gateway") || keys.includes("pipelines"))
        expect(() => loadFlow(text, file)).not.toThrow();
      // Scenarios are run by test/docs.test.ts; Prometheus' rules and KEDA's triggers only have to be YAML.
      else expect(keys.some((key) => ["kind", "groups", "triggers"].includes(key))).toBe(true);
    },
  );
});

test("JSON is JSON", () => {
  for (const { text } of of("json")) expect(() => JSON.parse(text) as unknown).not.toThrow();
});

test("JavaScript has no mistake that a parser finds", () => {
  expect(of("js").length).toBeGreaterThan(3);
  for (const block of of("js"))
    expect(parseSync("block.mjs", block.text).errors, placeOf(block)).toEqual([]);
});

test("every command is run by some test", () => {
  const commands = run
    .filter(({ language }) => language === "sh" || language === "console")
    .flatMap((block) => commandsOf(block).map(([command]) => `${placeOf(block)} ${command}`));
  expect(commands.length).toBeGreaterThan(20);
  const unknown = commands.filter(
    (line) => !ELSEWHERE.some(([pattern]) => pattern.test(line.slice(line.indexOf(" ") + 1))),
  );
  expect(unknown).toEqual([]);
});
