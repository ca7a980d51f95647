import { ConfigError } from "@sluice/core";
import { loadScenario, reportLines, simulate } from "@sluice/lab";
import type { Simulation } from "@sluice/lab";
import fc from "fast-check";
import { expect, test } from "vitest";

interface Stats {
  readonly elapsedS: number;
  readonly successes: number;
  readonly attempts: number;
  readonly goodputPerSecond: number;
  readonly rttMs: { readonly p50: number | null; readonly p99: number | null };
  readonly server: { readonly inFlight: Spread | null; readonly rate: Spread | null };
  readonly controller: Record<string, Spread | null>;
  readonly jain: number;
}

interface Spread {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly mode: number;
}

interface Row {
  readonly t: number;
  readonly goodputPerSecond: number;
  readonly rttMs: number | null;
}

const run = (text: string): Promise<Simulation> => simulate(loadScenario(text, "a.yaml"));
const statsOf = async (text: string): Promise<Stats> => (await run(text)).result.stats as Stats;

const scenario = (client: string, service: string, keys = ""): string =>
  `kind: concurrency\n${keys}client: ${client}\nservice: ${service}\n`;

const LINK = "{ delayMs: 100 }";

test("ten at a time, a hundred milliseconds each: fifty rounds, and timers are late by one", async () => {
  const stats = await statsOf(scenario("{ requests: 500 }", LINK, "algorithm: 10\n"));
  expect(stats).toMatchObject({ elapsedS: 5.05, successes: 500, attempts: 500, jain: 1 });
  expect(stats.server.inFlight).toEqual({ min: 10, max: 10, mean: 10, mode: 10 });
  expect(stats.rttMs).toEqual({ p50: 101, p99: 101 });
});

test("timers are exact with timerQuantumMs 0", async () => {
  const text = scenario("{ requests: 500 }", LINK, "algorithm: 10\ntimerQuantumMs: 0\n");
  expect((await statsOf(text)).elapsedS).toBe(5);
});

// Ten end and ten start at once: when the first of them ends, the ten of a second ago have left the
// window and the ten new ones are not in it yet.
test("the rate that a server sees is weighted by the time before an arrival or an end", async () => {
  const stats = await statsOf(scenario("{ requests: 500 }", LINK, "algorithm: 10\n"));
  expect(stats.server.rate).toMatchObject({ max: 90 });
});

test("a last row that is shorter than the others has the rate of its own length, and says so", async () => {
  const text = scenario(
    "{ durationS: 2.45, intervalMs: 10 }",
    "{ delayMs: 10 }",
    "algorithm: 5\ntimerQuantumMs: 0\n",
  );
  const simulation = await run(text);
  expect(simulation.result.rows.at(-2)).not.toHaveProperty("lengthS");
  expect(simulation.result.rows.at(-1)).toMatchObject({
    t: 2.4,
    lengthS: 0.05,
    goodputPerSecond: 100,
  });
  expect([...reportLines(simulation)].join("\n")).toContain("the last row covers 0.05 s");
  const { series, below } = simulation.run.chart();
  for (const bars of [series[0], below?.at(-1)?.series[0]])
    expect(bars?.points.at(-1)).toEqual({ x: 2.4, y: undefined });
});

test("attempts that start and end within a row count in flight for the time that they took", async () => {
  const rows = (
    await run(
      scenario(
        "{ durationS: 1, intervalMs: 100 }",
        "{ delayMs: 40 }",
        "algorithm: 5\ntimerQuantumMs: 0\n",
      ),
    )
  ).result.rows as { readonly inFlight: number }[];
  expect(rows.map(({ inFlight }) => inFlight)).toEqual(Array.from({ length: 10 }, () => 0.4));
});

test("what ends with the run belongs to its last row", async () => {
  const text = scenario("{ requests: 500 }", LINK, "algorithm: 10\ntimerQuantumMs: 0\n");
  const rows = (await run(text)).result.rows as Row[];
  expect(rows).toHaveLength(50);
  expect(rows.reduce((sum, { goodputPerSecond }) => sum + goodputPerSecond / 10, 0)).toBeCloseTo(
    500,
  );
});

test("a service that slows in proportion to its load serves no more at a higher limit", async () => {
  const slow = "{ delayMs: 100, concurrency: { scale: 1 } }";
  const elapsed = async (limit: number): Promise<number> =>
    (await statsOf(scenario("{ requests: 100 }", slow, `algorithm: ${limit}\n`))).elapsedS;
  expect((await elapsed(4)) / (await elapsed(1))).toBeCloseTo(1, 1);
});

test("a knee slows by its factor for each beyond it", async () => {
  const knee = "{ delayMs: 100, concurrency: { kneeStart: 2, kneeExp: 2 } }";
  const stats = await statsOf(
    scenario("{ requests: 4 }", knee, "algorithm: 4\ntimerQuantumMs: 0\n"),
  );
  expect(stats.rttMs.p99).toBe(400);
});

/** Four at a time against a service that takes two. */
const overTwo = (action: string): Promise<Stats> =>
  statsOf(
    scenario(
      "{ durationS: 3 }",
      `{ delayMs: 100, concurrency: { limit: 2, action: ${action} } }`,
      "algorithm: 4\ntimerQuantumMs: 0\n",
    ),
  );

test("deferred attempts hold their place, dropped ones leave it at once", async () => {
  expect((await overTwo("defer")).server.inFlight?.max).toBe(4);
  expect((await overTwo("drop")).server.inFlight?.max).toBe(2);
});

test("with the retries inside, a permit is held through the back-off and measured as one", async () => {
  const service = "{ delayMs: 100, rate: { limit: 1, action: defer } }";
  const keys = "algorithm: 2\ntimerQuantumMs: 0\n";
  const client = "{ requests: 2, backoffMs: [950] }";
  const whole = await statsOf(scenario(client, service, `layering: whole-request\n${keys}`));
  expect(whole.controller["observedRttMs"]?.max).toBe(1150);
  const each = await statsOf(scenario(client, service, `layering: per-attempt\n${keys}`));
  expect(each.controller["observedRttMs"]?.max).toBe(100);
});

test("a queue is served first come, first served, and a full one refuses", async () => {
  const queue = "{ workers: 1, serviceMs: 100, distribution: constant, queue: 1, rejectMs: 2 }";
  const stats = await statsOf(
    scenario("{ durationS: 1 }", queue, "algorithm: 3\ntimerQuantumMs: 0\n"),
  );
  expect(stats.rttMs.p99).toBe(200);
  expect(stats.attempts).toBeGreaterThan(stats.successes);
});

test("a schedule changes workers and their time", async () => {
  const text = scenario(
    "{ durationS: 30 }",
    "{ workers: 1, serviceMs: 100, distribution: constant, schedule: [{ atS: 10, workers: 4 }, { atS: 20, serviceMs: 50 }] }",
    "algorithm: 8\ntimerQuantumMs: 0\n",
  );
  const rows = (await run(text)).result.rows as Row[];
  const served = (fromS: number): number =>
    rows
      .filter(({ t }) => t >= fromS && t < fromS + 5)
      .reduce((sum, { goodputPerSecond }) => sum + goodputPerSecond / 10, 0);
  expect([served(4), served(14), served(24)]).toEqual([50, 200, 400]);
});

test("bursts come on top, and only then", async () => {
  const text = scenario(
    "{ durationS: 4, intervalMs: 100, bursts: [{ atS: 2, requests: 500 }] }",
    LINK,
    "algorithm: 100\ntimerQuantumMs: 0\n",
  );
  const rows = (await run(text)).result.rows as Row[];
  expect(rows[15]?.goodputPerSecond).toBe(10);
  expect(rows[21]?.goodputPerSecond).toBe(1000);
});

test("every attempt ends one way, and rows add up to the figures", async () => {
  const services = [
    "{ delayMs: 20, jitter: 1, concurrency: { limit: 7, action: drop } }",
    "{ delayMs: 20, jitter: 1, rate: { limit: 50, action: defer }, rejectMs: 1 }",
    "{ workers: 3, serviceMs: 30, distribution: lognormal, cv: 2, queue: 2 }",
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...services),
      fc.constantFrom("sluice", "vector", "rfc", "12"),
      fc.constantFrom("per-attempt", "whole-request"),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(1000),
      async (service, algorithm, layering, clients, seed) => {
        const client = `{ durationS: 5, clients: ${clients}, joinEveryS: 1, timeoutMs: 300, backoffJitter: full }`;
        const keys = `algorithm: ${algorithm}\nlayering: ${layering}\nseed: ${seed}\n`;
        const text = scenario(client, service, keys);
        const { result } = await run(text);
        const stats = result.stats as Stats;
        const rows = result.rows as (Row & { busyPerSecond: number; failedPerSecond: number })[];
        const total = (key: "goodputPerSecond" | "busyPerSecond" | "failedPerSecond"): number =>
          Math.round(rows.reduce((sum, row) => sum + row[key] / 10, 0));
        expect(total("goodputPerSecond")).toBe(stats.successes);
        const ended = stats.successes + total("busyPerSecond") + total("failedPerSecond");
        expect(ended).toBeLessThanOrEqual(stats.attempts);
        expect(stats.attempts - ended).toBeLessThanOrEqual(clients * 200);
        expect(stats.jain).toBeGreaterThan(0);
        expect(stats.jain).toBeLessThanOrEqual(1 + 1e-9);
        expect((await run(text)).result).toEqual(result);
      },
    ),
    { numRuns: 40 },
  );
});

test("a run of which nothing is ever served ends, and says so", async () => {
  const text = scenario(
    "{ requests: 5, backoffMs: [1000] }",
    "{ workers: 0, serviceMs: 10 }",
    "algorithm: 1\n",
  );
  const simulation = await run(text);
  expect(simulation.result.stats).toMatchObject({ elapsedS: 3600, successes: 0 });
  expect([...reportLines(simulation)].at(-1)).toMatch(/0 served .*nothing served/);
});

test("a service that never answers costs nothing to wait for", async () => {
  const text = scenario(
    "{ durationS: 100, timeoutMs: 1000000000000 }",
    "{ delayMs: 1000000000000 }",
    "algorithm: 200\n",
  );
  expect(await statsOf(text)).toMatchObject({ successes: 0, attempts: 200 });
});

const served = (clients: number): Promise<Stats> =>
  statsOf(
    scenario(
      `{ durationS: 5, intervalMs: 100, clients: ${clients}, joinEveryS: 0.001 }`,
      "{ delayMs: 20 }",
      "timerQuantumMs: 0\n",
    ),
  );

test("a thousand clients are each served as one of them would be", async () => {
  const [one, all] = [await served(1), await served(1000)];
  expect(one.successes).toBe(50);
  // The last begins a second late.
  expect(all.successes).toBeGreaterThanOrEqual(1000 * (one.successes - 10));
  expect(all.jain).toBeGreaterThan(0.99);
});

test("the chart has the limit, the round trip and what was served", async () => {
  const svg = (await run(scenario("{ requests: 50 }", LINK))).svg();
  for (const word of ["in flight", "limit", "round trip", "served", "busy"]) {
    expect(svg).toContain(word);
  }
});

/** What is wrong, the text, the line in the error, and words that its message must have. */
const WRONG: readonly [string, string, number, RegExp][] = [
  ["no end", scenario("{ clients: 2 }", LINK), 2, /expected requests or durationS/],
  [
    "an unknown algorithm",
    scenario("{ requests: 1 }", LINK, "algorithm: bbr\n"),
    2,
    /"bbr"; expected sluice or vector or rfc, or a whole number/,
  ],
  ["a limit of 0", scenario("{ requests: 1 }", LINK, "algorithm: 0\n"), 2, /is 0; expected/],
  [
    "an unknown layering",
    scenario("{ requests: 1 }", LINK, "layering: both\n"),
    2,
    /per-attempt or whole-request/,
  ],
  [
    "a ratio of 1",
    scenario("{ requests: 1 }", LINK, "settings: { decreaseRatio: 1 }\n"),
    2,
    /between 0 and 1/,
  ],
  [
    "a start above the end",
    scenario(
      "{ requests: 1 }",
      LINK,
      "settings: { initialConcurrency: 9, maxConcurrencyLimit: 3 }\n",
    ),
    2,
    /initialConcurrency is 9; expected at most maxConcurrencyLimit, 3/,
  ],
  ["no backoff", scenario("{ requests: 1, backoffMs: [] }", LINK), 2, /backoffMs is empty/],
  [
    "a service of no kind",
    scenario("{ requests: 1 }", "{ delay: 5 }"),
    3,
    /service .*delayMs .*workers/,
  ],
  [
    "a misspelt key",
    scenario("{ requests: 1 }", "{ delayMs: 5, concurrency: { limits: 5 } }"),
    3,
    /limits is not known/,
  ],
  [
    "an unknown action",
    scenario("{ requests: 1 }", "{ delayMs: 5, rate: { limit: 5, action: wait } }"),
    3,
    /defer or drop/,
  ],
  [
    "a strange distribution",
    scenario("{ requests: 1 }", "{ workers: 1, serviceMs: 5, distribution: pareto }"),
    3,
    /constant or exponential or lognormal/,
  ],
  [
    "more requests than are run",
    scenario("{ requests: 1000000000 }", LINK),
    2,
    /requests is 1000000000; expected a whole number from 1 to 20000000/,
  ],
  [
    "more requests than come by the interval",
    scenario("{ durationS: 10, clients: 2, intervalMs: 0.000001 }", LINK),
    2,
    /client\.intervalMs comes to 20000000000 requests .*at most 30000000/,
  ],
  [
    "a grid of nothing",
    scenario("{ requests: 1 }", LINK, "timerQuantumMs: 1.0e-300\n"),
    2,
    /timerQuantumMs is 1e-300; expected 0, or a number from 0\.001 to 1000/,
  ],
  [
    "half a worker",
    scenario("{ requests: 1 }", "{ workers: 0.5, serviceMs: 5 }"),
    3,
    /workers is 0\.5/,
  ],
];

test.each(WRONG)("%s is refused with its line", (_, text, line, message) => {
  expect(() => loadScenario(text, "a.yaml")).toThrow(ConfigError);
  expect(() => loadScenario(text, "a.yaml")).toThrow(message);
  expect(() => loadScenario(text, "a.yaml")).toThrow(new RegExp(`^a\\.yaml:${line}:`));
});
