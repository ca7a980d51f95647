import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadScenario, reportLines, simulate } from "@sluice/lab";

const folder = new URL("../../../scenarios/", import.meta.url);
const files = readdirSync(folder);

/** Files whose tables stand in a document, and how many rows each document prints. */
const DOCUMENTED = [
  { name: /^numaflow-/, rows: 154 },
  { name: /^tchannel-(steady|flappy)-/, rows: 94 },
];

test.each(files)("%s comes out as it says", (file) => {
  const text = readFileSync(new URL(file, folder), "utf8");
  const { result } = simulate(loadScenario(text, file));
  expect(result.missed).toEqual([]);
});

test.each(DOCUMENTED)("every row of the documents' tables is expected: $rows", ({ name, rows }) => {
  let count = 0;
  for (const file of files.filter((each) => name.test(each))) {
    const text = readFileSync(new URL(file, folder), "utf8");
    const { expect: expected, run } = loadScenario(text, file);
    const paths = Object.keys(expected).filter((path) => path.startsWith("rows"));
    expect(paths.length).toBe(run().rows.length);
    count += paths.length;
  }
  expect(count).toBe(rows);
});

test("the same file gives the same bytes, as table, JSON and chart", () => {
  const text = readFileSync(new URL("numaflow-go-back-n.yaml", folder), "utf8");
  const runs = [1, 2].map(() => simulate(loadScenario(text, "a.yaml")));
  const printed = runs.map((run) => [
    JSON.stringify(run.result),
    [...reportLines(run)].join("\n"),
    run.svg(),
  ]);
  expect(printed[0]).toEqual(printed[1]);
});
