import { loadScenario, reportLines, simulate } from "@sluice/lab";
import { expect, test } from "vitest";

interface Row {
  readonly rps: number;
  readonly limit: number | null;
}

// At 20 a second an answer comes at the very end of each second; one of them brings a cut.
test("the limit of a row is the one its second begins with, after the answers of that instant", async () => {
  const text =
    "kind: busy\nrule: sluice\noffered: { shape: steady, start: 20 }\nbusy: { shape: steady, start: 20 }\n";
  const rows = (await simulate(loadScenario(text, "a.yaml"))).result.rows as Row[];
  expect(rows.slice(2, 6).map(({ limit }) => limit)).toEqual([10, 5, 5, 2]);
});

test("a row without a limit says so, and the chart has a gap there", async () => {
  const text =
    "kind: busy\nrule: sluice\noffered: { shape: steady, start: 20 }\nbusy: { shape: steady, start: 0 }\n";
  const simulation = await simulate(loadScenario(text, "a.yaml"));
  expect((simulation.result.rows as Row[])[0]?.limit).toBeNull();
  expect([...reportLines(simulation)].join("\n")).toMatch(/^ +1 +20 +0 +0 +no limit$/m);
  const series = simulation.run.chart().series.find(({ label }) => label === "limit");
  expect(series?.points[0]).toEqual({ x: 1, y: undefined });
});

test.each([
  ["prose", "rate", 1, 1.01],
  ["table", "rate", 0, 0.01],
  ["prose", "factor", 1.005, 1.01],
  ["table", "value", 0, 0.01],
])(
  "under rule %s %s %d is refused with the least growth that recovers",
  (rule, key, low, least) => {
    const text = (value: number): string =>
      `kind: busy\nrule: ${rule}\nrecover: { ${key}: ${value} }\noffered: { shape: steady, start: 20 }\nbusy: { shape: steady, start: 20 }\n`;
    expect(() => loadScenario(text(low), "a.yaml")).toThrow(
      `a.yaml:3: recover.${key} is ${low}, too little for a limit to recover; expected at least ${least}`,
    );
    expect(() => loadScenario(text(least), "a.yaml")).not.toThrow();
  },
);
