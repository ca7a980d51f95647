import { expect, test } from "vitest";
import type { Outcome } from "./outcome.ts";
import { Permit } from "./permit.ts";

function setUp() {
  const heard: string[] = [];
  const permit: Permit = new Permit(
    {
      onMeasure: (_permit, outcome: Outcome, nowMs) => heard.push(`measure ${outcome} ${nowMs}`),
      onEnd: (_permit, outcome: Outcome, nowMs) => heard.push(`end ${outcome} ${nowMs}`),
    },
    2,
    10,
    5,
  );
  return { permit, heard };
}

test("ends once, whatever is said after", () => {
  const { permit, heard } = setUp();
  expect(permit).toMatchObject({ weight: 2, startedAtMs: 10, inFlightAtStart: 5 });
  expect(permit.end("ok", 20)).toBe(true);
  expect(permit.end("failed", 30)).toBe(false);
  expect(permit.measure("failed", 30)).toBe(false);
  expect(heard).toEqual(["end ok 20"]);
});

test("is measured once and then ends once", () => {
  const { permit, heard } = setUp();
  expect(permit.measure("ok", 20)).toBe(true);
  expect(permit.measure("busy", 21)).toBe(false);
  expect([permit.isMeasured, permit.hasEnded]).toEqual([true, false]);
  expect(permit.end("ignored", 30)).toBe(true);
  expect(permit.hasEnded).toBe(true);
  expect(heard).toEqual(["measure ok 20", "end ignored 30"]);
});
