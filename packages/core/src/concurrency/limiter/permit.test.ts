import { expect, test } from "vitest";
import type { Outcome } from "../outcome.ts";
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

test("a permit ends once, whatever is called after", () => {
  const { permit, heard } = setUp();
  expect(permit).toMatchObject({ weight: 2, startedAtMs: 10, inFlightAtStart: 5 });
  expect(permit.end("ok", 20)).toBe(true);
  expect(permit.end("failed", 30)).toBe(false);
  expect(permit.measure("failed", 30)).toBe(false);
  expect(heard).toEqual(["end ok 20"]);
});

test("a permit is measured once and then ends once", () => {
  const { permit, heard } = setUp();
  expect(permit.measure("ok", 20)).toBe(true);
  expect(permit.measure("busy", 21)).toBe(false);
  expect([permit.isMeasured, permit.hasEnded]).toEqual([true, false]);
  expect(permit.end("ignored", 30)).toBe(true);
  expect(permit.hasEnded).toBe(true);
  expect(heard).toEqual(["measure ok 20", "end ignored 30"]);
});

test("leaving the scope of `using` ends a permit as ignored, unless it has ended", () => {
  const { permit, heard } = setUp();
  permit[Symbol.dispose]();
  expect([permit.hasEnded, heard]).toEqual([true, ["end ignored undefined"]]);
  const other = setUp();
  other.permit.end("ok", 20);
  other.permit[Symbol.dispose]();
  expect(other.heard).toEqual(["end ok 20"]);
});

test("an outcome that does not exist is refused, and the permit can still be ended", () => {
  const { permit } = setUp();
  expect(() => permit.end("fine" as never)).toThrow('outcome is "fine"; use "ok", "busy"');
  expect(permit.hasEnded).toBe(false);
  expect(permit.end("ok")).toBe(true);
});
