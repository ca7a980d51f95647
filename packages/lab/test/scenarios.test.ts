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

test.each(files)("%s comes out as it says", async (file) => {
  const text = readFileSync(new URL(file, folder), "utf8");
  const { result } = await simulate(loadScenario(text, file));
  expect(result.missed).toEqual([]);
});

test.each(DOCUMENTED)(
  "every row of the documents' tables is expected: $rows",
  async ({ name, rows }) => {
    let count = 0;
    for (const file of files.filter((each) => name.test(each))) {
      const text = readFileSync(new URL(file, folder), "utf8");
      const { expect: expected, run } = loadScenario(text, file);
      const paths = Object.keys(expected).filter((path) => path.startsWith("rows"));
      expect(paths.length).toBe((await run()).rows.length);
      count += paths.length;
    }
    expect(count).toBe(rows);
  },
);

/** Kinds that draw random numbers, and one that does not. */
const REPEATED = [
  "adaptive-queue.yaml",
  "overload-four-clients.yaml",
  "pool-store-down.yaml",
  "numaflow-go-back-n.yaml",
];

async function printed(text: string): Promise<string[]> {
  const run = await simulate(loadScenario(text, "a.yaml"));
  return [JSON.stringify(run.result), [...reportLines(run)].join("\n"), run.svg()];
}

test.each(REPEATED)("%s gives the same bytes each time, as table, JSON and chart", async (file) => {
  const text = readFileSync(new URL(file, folder), "utf8");
  expect(await printed(text)).toEqual(await printed(text));
});

test.each(REPEATED.slice(0, 3))("%s gives other bytes with another seed", async (file) => {
  const text = readFileSync(new URL(file, folder), "utf8").replace(/^seed: .*\n/m, "");
  expect(await printed(`${text}\nseed: 5\n`)).not.toEqual(await printed(`${text}\nseed: 6\n`));
});
