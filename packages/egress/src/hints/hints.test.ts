import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pauseOf } from "./hint.ts";
import type { Hint } from "./hint.ts";
import { readHints } from "./hints.ts";

const NOW_MS = Date.UTC(2025, 10, 15, 12, 0, 0);
const NOW_S = NOW_MS / 1000;

type Fields = Readonly<Record<string, string>>;

function retryAfterOf(fields: Fields): number | undefined {
  return readHints(new Headers(fields), NOW_MS).retryAfterMs;
}

function limitsOf(fields: Fields): readonly Hint[] {
  return readHints(new Headers(fields), NOW_MS).limits;
}

test("an answer without hints asks for nothing", () => {
  expect(readHints(new Headers(), NOW_MS)).toEqual({ limits: [] });
});

test.each<[Fields, number | undefined]>([
  [{ "Retry-After": "2" }, 2000],
  [{ "retry-after": "2025-11-15T12:00:30Z" }, 30_000],
  [{ "retry-after-ms": "150" }, 150],
  [{ "x-ms-retry-after-ms": "150" }, 150],
  [{ "x-amz-retry-after": "150" }, 150],
  // Retry-After is the same, rounded up, down or to at least a second.
  [{ "retry-after": "2", "retry-after-ms": "1500" }, 1500],
  [{ "retry-after": "1", "retry-after-ms": "1500" }, 1500],
  [{ "retry-after": "1", "retry-after-ms": "120" }, 120],
  [{ "retry-after": "1", "retry-after-ms": "1" }, 1],
  [{ "retry-after": "Sat, 15 Nov 2025 12:00:01 GMT", "retry-after-ms": "120" }, 120],
  // These differ by more than rounding does.
  [{ "retry-after": "1", "retry-after-ms": "0" }, 1000],
  [{ "retry-after": "60", "retry-after-ms": "120" }, 60_000],
  [{ "retry-after": "1", "retry-after-ms": "60000" }, 60_000],
  [{ "retry-after-ms": "120", "x-ms-retry-after-ms": "900" }, 900],
  [{ "retry-after": "soon", "retry-after-ms": "1500" }, 1500],
  [{ "retry-after": "2", "retry-after-ms": "-5" }, 2000],
  [{ ratelimit: '"a";r=0;t=9' }, undefined],
])("%j asks outright for a pause of %s ms", (fields, expected) => {
  expect(retryAfterOf(fields)).toBe(expected);
});

test.each([
  ["false", false],
  ["true", undefined],
  ["no", undefined],
])("x-should-retry: %s is read as %s", (value, expected) => {
  const { shouldRetry } = readHints(new Headers({ "x-should-retry": value }), NOW_MS);
  expect(shouldRetry).toBe(expected);
});

describe("OpenAI's fields", () => {
  const fields = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-reset-tokens": "6m0s",
  };

  test("name their limits", () => {
    expect(limitsOf(fields)).toEqual([
      {
        rate: "requests",
        isOfEveryCall: true,
        limit: 60,
        remaining: 59,
        resetMs: 1000,
        isGradual: true,
      },
      { rate: "tokens", limit: 150_000, remaining: 0, resetMs: 360_000, isGradual: true },
    ]);
  });

  test("of a limit that is used up ask for a pause until its first part is back", () => {
    const used = { ...fields, "x-ratelimit-remaining-requests": "0" };
    expect(limitsOf(used).map(pauseOf)).toEqual([17, 3]);
    expect(limitsOf(fields).map(pauseOf)).toEqual([undefined, 3]);
  });

  test("may have tokens only", () => {
    const only = { "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "soon" };
    expect(limitsOf(only)).toEqual([{ rate: "tokens", remaining: 5 }]);
  });
});

test("Anthropic's fields name their limits and give dates", () => {
  const fields = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2025-11-15T12:00:01Z",
    "anthropic-ratelimit-input-tokens-limit": "40000",
    "anthropic-ratelimit-input-tokens-remaining": "0",
    "anthropic-ratelimit-input-tokens-reset": "2025-11-15T13:01:00.5+01:00",
    "anthropic-ratelimit-output-tokens-remaining": "7000",
    "anthropic-ratelimit-tokens-remaining": "many",
  };
  expect(limitsOf(fields)).toEqual([
    {
      rate: "requests",
      isOfEveryCall: true,
      limit: 50,
      remaining: 49,
      resetMs: 1000,
      isGradual: true,
    },
    { rate: "input-tokens", limit: 40_000, remaining: 0, resetMs: 60_500, isGradual: true },
    { rate: "output-tokens", remaining: 7000 },
  ]);
});

describe("the standard field", () => {
  test.each<[string, (number | undefined)[]]>([
    ['"a";r=0;t=3, "b";r=0;t=7, "c";r=1;t=60', [3000, 7000, undefined]],
    ['"a";r=0', [undefined]],
    ['"a";r=0;t=0', [0]],
    ['"a";r=0;t=x=', []],
  ])("%s asks for pauses of %j", (ratelimit, expected) => {
    expect(limitsOf({ ratelimit }).map(pauseOf)).toEqual(expected);
  });

  test("speaks of every call unless its policy counts something else", () => {
    const ratelimit = '"a";r=0;t=3, "b";r=0;t=7, "c";r=0;t=7';
    const policy = '"a";q=5;w=1, "b";q=9000;qu="content-bytes", "c";q=1;qu="tokens"';
    expect(limitsOf({ ratelimit, "ratelimit-policy": policy })).toEqual([
      { rate: "a", isOfEveryCall: true, limit: 5, remaining: 0, resetMs: 3000 },
      { rate: "b", limit: 9000, remaining: 0, resetMs: 7000 },
      { rate: "c", limit: 1, remaining: 0, resetMs: 7000 },
    ]);
  });

  test("beats the older ones", () => {
    const fields = { ratelimit: '"a";r=4', "x-ratelimit-remaining": "0", "x-ratelimit-reset": "5" };
    expect(limitsOf(fields)).toEqual([{ rate: "a", isOfEveryCall: true, remaining: 4 }]);
  });
});

describe("dates", () => {
  const retryAfter = "Sat, 15 Nov 2025 13:00:10 GMT";

  test("are judged by the peer's own clock", () => {
    expect(retryAfterOf({ "retry-after": retryAfter, date: "Sat, 15 Nov 2025 13:00:00 GMT" })).toBe(
      10_000,
    );
    const reset = String(NOW_S + 3600);
    const fields = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    const [limit] = limitsOf({ ...fields, date: "Sat, 15 Nov 2025 12:59:00 GMT" });
    expect(limit?.resetMs).toBe(60_000);
  });

  test.each([{}, { date: "yesterday" }])("are judged by ours with %j", (fields) => {
    expect(retryAfterOf({ "retry-after": retryAfter, ...fields })).toBe(3_610_000);
  });
});

describe("answers from a cache", () => {
  test("say nothing of limits, and still when to come back", () => {
    const fields = { age: "5", ratelimit: '"a";r=0;t=9', "x-ratelimit-remaining": "0" };
    expect(limitsOf(fields)).toEqual([]);
    expect(retryAfterOf({ ...fields, "retry-after": "3" })).toBe(3000);
  });

  test.each(["0", "-5", "old"])("are not those of age %s", (age) => {
    expect(limitsOf({ age, ratelimit: '"a";r=0;t=9' })).toHaveLength(1);
  });
});

describe("older fields", () => {
  test.each<[Fields, Hint]>([
    [
      { "ratelimit-limit": "9", "ratelimit-remaining": "0", "ratelimit-reset": "30" },
      { limit: 9, remaining: 0, resetMs: 30_000 },
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1.5" },
      { remaining: 0, resetMs: 1500 },
    ],
    [
      { "x-rate-limit-remaining": "3", "x-rate-limit-reset": String(NOW_S + 60) },
      { remaining: 3, resetMs: 60_000 },
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_S - 60) },
      { remaining: 0, resetMs: 0 },
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${NOW_S + 1}.2345` },
      { remaining: 0, resetMs: 1235 },
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_MS + 777) },
      { remaining: 0, resetMs: 777 },
    ],
    [
      { "x-ratelimit-remaining": "8", "x-ratelimit-reset": "6m0s" },
      { remaining: 8, resetMs: 360_000 },
    ],
    [
      { "x-ratelimit-remaining": "8", "x-ratelimit-reset": "2025-11-15T12:00:05Z" },
      { remaining: 8, resetMs: 5000 },
    ],
    [{ "x-ratelimit-remaining": "8" }, { remaining: 8 }],
    [{ ratelimit: "limit=100, remaining=0, reset=5" }, { limit: 100, remaining: 0, resetMs: 5000 }],
    [{ ratelimit: "remaining=0,reset=5" }, { remaining: 0, resetMs: 5000 }],
    // Discord: the clock of the peer is not needed.
    [
      {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(NOW_S + 9),
        "x-ratelimit-reset-after": "1.25",
        "x-ratelimit-bucket": "abcd1234",
      },
      { rate: "abcd1234", remaining: 0, resetMs: 1250 },
    ],
    // GitHub: search has a limit of its own.
    [
      {
        "x-ratelimit-limit": "30",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(NOW_S + 60),
        "x-ratelimit-resource": "search",
      },
      { rate: "search", limit: 30, remaining: 0, resetMs: 60_000 },
    ],
  ])("%j", (fields, expected) => {
    expect(limitsOf(fields)).toEqual([expected]);
  });

  test.each<Fields>([
    { "x-ratelimit-reset": "5" },
    { "x-ratelimit-remaining": "-1", "x-ratelimit-reset": "5" },
    { "x-ratelimit-remaining": "1, 0", "x-ratelimit-reset": "5" },
    { "x-ratelimit-remaining": "NaN", "x-ratelimit-reset": "5" },
    { "x-ratelimit-remaining": "1e3", "x-ratelimit-reset": "5" },
    { "x-ratelimit-remaining": "9".repeat(16), "x-ratelimit-reset": "5" },
    { ratelimit: "limit=100" },
  ])("%j says nothing", (fields) => {
    expect(limitsOf(fields)).toEqual([]);
  });

  test("name no instant to a wall clock that shows no number", () => {
    const fields = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_S) };
    expect(readHints(new Headers(fields), Number.NaN)).toEqual({ limits: [{ remaining: 0 }] });
  });
});

describe("hostile fields", () => {
  test("of many thousand limits cost a bounded number of hints", () => {
    const ratelimit = Array.from({ length: 1200 }, (_, i) => `"${i}";r=0`).join(", ");
    expect(limitsOf({ ratelimit })).toHaveLength(32);
    expect(limitsOf({ ratelimit: `${ratelimit}, `.repeat(20) })).toEqual([]);
  });

  test("ask for a whole number of milliseconds within 31 years, whatever they hold", () => {
    const names = [
      "retry-after",
      "retry-after-ms",
      "date",
      "age",
      "ratelimit",
      "ratelimit-policy",
      "x-ratelimit-limit",
      "x-ratelimit-remaining",
      "x-ratelimit-reset",
      "x-ratelimit-reset-after",
      "x-ratelimit-resource",
      "x-ratelimit-limit-tokens",
      "x-ratelimit-remaining-tokens",
      "x-ratelimit-reset-tokens",
      "anthropic-ratelimit-requests-limit",
      "anthropic-ratelimit-requests-remaining",
      "anthropic-ratelimit-requests-reset",
    ];
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.nat().map(String),
      fc.integer().map((count) => `${count}ms`),
      fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String),
      fc.constantFrom(
        '"a";r=0;t=5',
        '"a";q=0',
        "0",
        "0",
        "limit=1, remaining=0, reset=99999999999",
        "6m0s",
        "99999999999999h",
        "2025-11-15T12:00:30Z",
        "9999-12-31T23:59:60+00:00",
        "Sat, 15 Nov 2025 13:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "9".repeat(5000),
      ),
    );
    const fields = fc.tuple(...names.map(() => fc.option(value)));
    fc.assert(
      fc.property(fields, fc.double(), (values, wallNowMs) => {
        const headers = { get: (name: string) => values[names.indexOf(name)] };
        const { retryAfterMs, limits } = readHints(headers, wallNowMs);
        const times = limits.flatMap((limit) => [limit.resetMs, pauseOf(limit)]);
        for (const ms of [retryAfterMs, ...times])
          if (ms !== undefined) expect(Number.isInteger(ms) && ms >= 0 && ms <= 1e12).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
