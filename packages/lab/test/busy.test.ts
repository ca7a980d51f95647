import { loadScenario, simulate } from "@sluice/lab";
import { expect, test } from "vitest";

interface Row {
  readonly rps: number;
  readonly limit: number;
}

// At 20 a second an answer comes at the very end of each second; one of them brings a cut.
test("the limit of a row is the one its second begins with, after the answers of that instant", () => {
  const text =
    "kind: busy\nrule: sluice\noffered: { shape: steady, start: 20 }\nbusy: { shape: steady, start: 20 }\n";
  const rows = simulate(loadScenario(text, "a.yaml")).result.rows as Row[];
  expect(rows.slice(2, 6).map(({ limit }) => limit)).toEqual([10, 5, 5, 2]);
});
