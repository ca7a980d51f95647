import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pauseOf } from "../hints/hint.ts";
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

describe("limits that are used up", () => {
  const fields = { ratelimit: '"a";r=0;t=5, "b";r=0;t=2, "c";r=9' };
  const hints = hintsOf(fields);
  const [a, b] = hints.limits;

  test.each([200, 301, 404, 429, 500, 503])("are in the hints of a %d", (status) => {
    expect(classifyHttp(status, hints)).toMatchObject({ hints: [a, b] });
    expect(classifyHttp(status, hints)).not.toHaveProperty("pauseMs");
  });

  test.each([
    [429, OVER_QUOTA],
    [403, OVER_QUOTA],
    // With every answer of a proxy that counts, also with one to a request that its server had begun.
    [503, { ...REFUSED, retriable: "if-idempotent" }],
    [500, BROKEN],
  ])("make of a %d no more than it is", (status, expected) => {
    expect(classifyHttp(status, hints)).toEqual({ ...expected, hints: [a, b] });
  });

  test("are no reason to pause while something is left", () => {
    expect(classifyHttp(200, hintsOf({ ratelimit: '"a";r=1;t=5' }))).toEqual(SERVED);
  });

  test("and have names are what the Retry-After of a 429 is about", () => {
    const both = hintsOf({ ...fields, "retry-after": "60" });
    expect(classifyHttp(429, both)).toEqual({
      ...OVER_QUOTA,
      hints: [
        { ...a, retryAfterMs: 60_000 },
        { ...b, retryAfterMs: 60_000 },
      ],
    });
    // A 503 is about the whole service, and a 200 about itself.
    expect(classifyHttp(503, both)).toEqual({ ...REFUSED, pauseMs: 60_000 });
    expect(classifyHttp(200, both)).toEqual({ ...SERVED, hints: [a, b] });
  });

  test("and have no name leave the Retry-After of a 429 to all calls", () => {
    const legacy = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "5" };
    expect(classifyHttp(429, hintsOf({ ...legacy, "retry-after": "60" }))).toEqual({
      ...OVER_QUOTA,
      pauseMs: 60_000,
    });
  });
});

describe("a 429 of a service that counts requests and tokens, with some of both left", () => {
  const fields = {
    "retry-after-ms": "120",
    "x-ratelimit-limit-requests": "10",
    "x-ratelimit-remaining-requests": "1",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-limit-tokens": "10000",
    "x-ratelimit-remaining-tokens": "700",
    "x-ratelimit-reset-tokens": "1s",
  };

  test("asks for a pause until the first token is back if it says no time", () => {
    const used = { ...fields, "x-ratelimit-remaining-tokens": "0", "retry-after-ms": "soon" };
    const { hints = [] } = classifyHttp(429, hintsOf(used));
    expect(hints.map(pauseOf)).toEqual([1]);
    // At an even pace all of a limit is used all the time.
    expect(classifyHttp(200, hintsOf(used))).toEqual(SERVED);
  });

  test("is about the tokens", () => {
    expect(classifyHttp(429, hintsOf(fields))).toMatchObject({
      hints: [{ rate: "tokens", retryAfterMs: 120 }],
    });
  });

  test("is about the tokens of which the smallest part is left", () => {
    const anthropic = {
      "retry-after": "1",
      "anthropic-ratelimit-input-tokens-limit": "40000",
      "anthropic-ratelimit-input-tokens-remaining": "900",
      "anthropic-ratelimit-input-tokens-reset": "1970-01-01T00:00:01Z",
      "anthropic-ratelimit-output-tokens-limit": "8000",
      "anthropic-ratelimit-output-tokens-remaining": "800",
      "anthropic-ratelimit-output-tokens-reset": "1970-01-01T00:00:01Z",
    };
    expect(classifyHttp(429, hintsOf(anthropic))).toMatchObject({
      hints: [{ rate: "input-tokens", retryAfterMs: 1000 }],
    });
  });

  test("is about all calls of a service that says nothing of tokens", () => {
    const github = {
      "retry-after": "60",
      "x-ratelimit-remaining": "4000",
      "x-ratelimit-reset": "1800",
      "x-ratelimit-resource": "core",
    };
    expect(classifyHttp(429, hintsOf(github))).toEqual({ ...OVER_QUOTA, pauseMs: 60_000 });
  });
});

test.each([429, 500, 503])("x-should-retry: false forbids to retry a %d", (status) => {
  const hints = hintsOf({ "x-should-retry": "false", "retry-after": "1" });
  expect(classifyHttp(status, hints).retriable).toBe("never");
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
