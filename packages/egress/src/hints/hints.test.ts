import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHints } from "./hints.ts";

const NOW_MS = Date.UTC(2025, 10, 15, 12, 0, 0);
const NOW_S = NOW_MS / 1000;

function pauseOf(fields: Readonly<Record<string, string>>): number | undefined {
  return readHints(new Headers(fields), NOW_MS).pauseMs;
}

test("an answer without hints asks for nothing", () => {
  expect(readHints(new Headers(), NOW_MS)).toEqual({ quotas: [] });
});

test.each([
  [{ "Retry-After": "2" }, 2000],
  [{ "retry-after-ms": "150" }, 150],
  [{ "x-ms-retry-after-ms": "150" }, 150],
  [{ "x-amz-retry-after": "150" }, 150],
  // Two words for one thing: the longer is right for both.
  [{ "retry-after": "2", "retry-after-ms": "1500" }, 2000],
  [{ "retry-after": "1", "retry-after-ms": "1500" }, 1500],
  [{ "retry-after": "soon", "retry-after-ms": "1500" }, 1500],
  // Retry-After beats the reset of a quota, whichever is longer.
  [{ "retry-after": "1", ratelimit: '"a";r=0;t=9' }, 1000],
  [{ "retry-after": "9", ratelimit: '"a";r=0;t=1' }, 9000],
  [{ "retry-after": "soon", ratelimit: '"a";r=0;t=9' }, 9000],
  // Only what is used up makes a pause, and the longest of it.
  [{ ratelimit: '"a";r=0;t=3, "b";r=0;t=7, "c";r=1;t=60' }, 7000],
  [{ ratelimit: '"a";r=1;t=60' }, undefined],
  [{ ratelimit: '"a";r=0' }, undefined],
  [{ ratelimit: '"a";r=0;t=0' }, 0],
  [{ ratelimit: '"a";r=0;t=x=' }, undefined],
])("of %j the pause is %s", (fields, expected) => {
  expect(pauseOf(fields as Record<string, string>)).toBe(expected);
});

test.each([
  [{ "retry-after": "2" }, 2000],
  [{ "retry-after-ms": "5", ratelimit: '"a";r=0;t=9' }, 5],
  [{ ratelimit: '"a";r=0;t=9' }, undefined],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" }, undefined],
])("of %j what was told outright is %s", (fields, expected) => {
  const headers = new Headers(fields);
  expect(readHints(headers, NOW_MS).retryAfterMs).toBe(expected);
});

describe("dates", () => {
  const retryAfter = "Sat, 15 Nov 2025 13:00:10 GMT";

  test("are judged by the peer's own clock", () => {
    expect(pauseOf({ "retry-after": retryAfter, date: "Sat, 15 Nov 2025 13:00:00 GMT" })).toBe(
      10_000,
    );
    const reset = String(NOW_S + 3600);
    const fields = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    expect(pauseOf({ ...fields, date: "Sat, 15 Nov 2025 12:59:00 GMT" })).toBe(60_000);
  });

  test.each([{}, { date: "yesterday" }])("are judged by ours with %j", (fields) => {
    expect(pauseOf({ "retry-after": retryAfter, ...fields })).toBe(3_610_000);
  });
});

describe("answers from a cache", () => {
  test("say nothing of quotas, and still when to come back", () => {
    const fields = { age: "5", ratelimit: '"a";r=0;t=9', "x-ratelimit-remaining": "0" };
    expect(readHints(new Headers(fields), NOW_MS)).toEqual({ quotas: [] });
    expect(pauseOf({ ...fields, "retry-after": "3" })).toBe(3000);
  });

  test.each(["0", "-5", "old"])("are not those of age %s", (age) => {
    expect(pauseOf({ age, ratelimit: '"a";r=0;t=9' })).toBe(9000);
  });
});

describe("older fields", () => {
  test.each([
    [{ "ratelimit-remaining": "0", "ratelimit-reset": "30" }, "ratelimit", 0, 30_000],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1.5" }, "x-ratelimit", 0, 1500],
    [
      { "x-rate-limit-remaining": "3", "x-rate-limit-reset": String(NOW_S + 60) },
      "x-rate-limit",
      3,
      60_000,
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_S - 60) },
      "x-ratelimit",
      0,
      0,
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${NOW_S + 1}.2345` },
      "x-ratelimit",
      0,
      1235,
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_MS + 777) },
      "x-ratelimit",
      0,
      777,
    ],
    [{ "x-ratelimit-remaining": "8", "x-ratelimit-reset": "6m0s" }, "x-ratelimit", 8, undefined],
    [{ "x-ratelimit-remaining": "8" }, "x-ratelimit", 8, undefined],
    [{ ratelimit: "limit=100, remaining=0, reset=5" }, "ratelimit", 0, 5000],
  ] as const)("%j", (fields, policy, remaining, resetMs) => {
    const { quotas } = readHints(new Headers(fields), NOW_MS);
    expect(quotas).toEqual([{ policy, remaining, ...(resetMs === undefined ? {} : { resetMs }) }]);
  });

  test.each([
    { "x-ratelimit-reset": "5" },
    { "x-ratelimit-remaining": "-1", "x-ratelimit-reset": "5" },
    { "x-ratelimit-remaining": "1, 0", "x-ratelimit-reset": "5" },
  ])("%j says nothing", (fields) => {
    expect(readHints(new Headers(fields as Record<string, string>), NOW_MS)).toEqual({
      quotas: [],
    });
  });

  test("name no instant to a wall clock that shows no number", () => {
    const fields = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_S) };
    const quotas = [{ policy: "x-ratelimit", remaining: 0 }];
    expect(readHints(new Headers(fields), Number.NaN)).toEqual({ quotas });
  });

  test("give way to the standard one", () => {
    const fields = { ratelimit: '"a";r=4', "x-ratelimit-remaining": "0", "x-ratelimit-reset": "5" };
    expect(readHints(new Headers(fields), NOW_MS)).toEqual({
      quotas: [{ policy: "a", remaining: 4 }],
    });
  });
});

test("whatever the fields hold, a pause is a whole number of milliseconds within 31 years", () => {
  const names = [
    "retry-after",
    "retry-after-ms",
    "date",
    "age",
    "ratelimit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
  ];
  const value = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.nat().map(String),
    fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String),
    fc.constantFrom(
      '"a";r=0;t=5',
      "0",
      "Sat, 15 Nov 2025 13:00:00 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT",
    ),
  );
  const fields = fc.tuple(...names.map(() => fc.option(value)));
  fc.assert(
    fc.property(fields, fc.double(), (values, wallNowMs) => {
      const headers = { get: (name: string) => values[names.indexOf(name)] };
      const { pauseMs, quotas } = readHints(headers, wallNowMs);
      for (const ms of [pauseMs, ...quotas.map(({ resetMs }) => resetMs)])
        if (ms !== undefined) expect(Number.isInteger(ms) && ms >= 0 && ms <= 1e12).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
