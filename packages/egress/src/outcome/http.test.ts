import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Hints } from "../hints/hints.ts";
import { readHints } from "../hints/hints.ts";
import { classifyHttp } from "./http.ts";

const SERVED = { outcome: "ok", retriable: "never" };
const TURNED_DOWN = { outcome: "ignored", retriable: "never" };
const NOT_BEGUN = { outcome: "ignored", retriable: "safe" };
const BROKEN = { outcome: "failed", retriable: "if-idempotent" };
const OVER_QUOTA = { outcome: "busy", retriable: "safe", scope: "over-quota" };
const REFUSED = { outcome: "busy", retriable: "safe", scope: "overloaded" };

function hintsOf(fields: Readonly<Record<string, string>>): Hints {
  return readHints(new Headers(fields), 0);
}

test.each([
  [SERVED, [101, 200, 201, 202, 204, 206, 301, 302, 304, 307]],
  [TURNED_DOWN, [400, 401, 403, 404, 405, 409, 410, 412, 413, 422, 423, 428, 431, 451, 499]],
  [BROKEN, [408, 500, 502, 504, 520, 522, 524, 599]],
  [NOT_BEGUN, [421, 425]],
  [OVER_QUOTA, [429]],
  [REFUSED, [529]],
  [{ ...REFUSED, retriable: "if-idempotent" }, [503]],
  [TURNED_DOWN, [501, 505, 506, 507, 508, 510, 511]],
  [TURNED_DOWN, [0, 99, 600, 999, -1, Number.NaN]],
])("%j is the verdict on %j", (expected, statuses) => {
  expect(statuses.map((status) => classifyHttp(status))).toEqual(statuses.map(() => expected));
});

describe("an answer that says when to come back", () => {
  const hints = hintsOf({ "retry-after": "3" });

  test.each([
    [429, { ...OVER_QUOTA, pauseMs: 3000 }],
    [503, { ...REFUSED, pauseMs: 3000 }],
    [529, { ...REFUSED, pauseMs: 3000 }],
    [403, { ...OVER_QUOTA, pauseMs: 3000 }],
  ])("%d was refused on purpose", (status, expected) => {
    expect(classifyHttp(status, hints)).toEqual(expected);
  });

  test.each([200, 202, 301, 404, 413, 500, 502])("%d speaks of itself alone", (status) => {
    expect(classifyHttp(status, hints)).toEqual(classifyHttp(status));
  });
});

describe("quotas that are used up", () => {
  const hints = hintsOf({ ratelimit: '"a";r=0;t=5, "b";r=0;t=2' });

  test.each([200, 301, 404, 429, 500, 503])("pause what comes after a %d", (status) => {
    expect(classifyHttp(status, hints).pauseMs).toBe(5000);
  });

  test("also when the answer speaks of a retry of its own", () => {
    const both = hintsOf({ ratelimit: '"a";r=0;t=5', "retry-after": "60" });
    expect([200, 429].map((status) => classifyHttp(status, both).pauseMs)).toEqual([5000, 60_000]);
  });

  test.each([
    [429, OVER_QUOTA],
    [403, OVER_QUOTA],
    // With every answer of a proxy that counts, also with one to a request that its server had begun.
    [503, { ...REFUSED, retriable: "if-idempotent" }],
    [500, BROKEN],
  ])("make of a %d no more than it is", (status, expected) => {
    expect(classifyHttp(status, hints)).toEqual({ ...expected, pauseMs: 5000 });
  });

  test("are no reason to pause while something is left", () => {
    expect(classifyHttp(200, hintsOf({ ratelimit: '"a";r=1;t=5' }))).toEqual(SERVED);
  });
});

test("every verdict has a scope exactly if it is busy, and what was served is not sent again", () => {
  const hints = fc.constantFrom({}, { "retry-after": "1" }, { ratelimit: '"a";r=0;t=5' });
  fc.assert(
    fc.property(fc.integer({ min: -1, max: 700 }), hints, (status, fields) => {
      const verdict = classifyHttp(status, hintsOf(fields));
      expect(verdict.scope !== undefined).toBe(verdict.outcome === "busy");
      if (verdict.outcome === "ok") expect(verdict.retriable).toBe("never");
      if (verdict.outcome === "failed") expect(verdict.retriable).toBe("if-idempotent");
    }),
    { numRuns: 1000 },
  );
});
