/** Clients that are told to pause beside clients that are held, and the victims of both. */
import { loadScenario, simulate } from "@sluice/lab";
import { describe, expect, test } from "vitest";

interface Stats {
  readonly producers: Readonly<
    Record<
      string,
      { perSecond: number; failed: number; notices: number; waitMs: { p50: number; p99: number } }
    >
  >;
  readonly connections: Readonly<Record<string, { pausedMs: number; heldBytesMax: number }>>;
  readonly topics: Readonly<
    Record<string, { perSecond: number; maxSecondRatio: number; jain: number }>
  >;
}

interface Row {
  readonly accepted: Readonly<Record<string, number>>;
}

/** What the gateway keeps of one message of a flow. */
const HELD_BYTES = 1_540;

async function run(
  limit: number,
  producers: readonly string[],
  { rttMs = 20, more = "durationS: 10" } = {},
): Promise<{ readonly stats: Stats; readonly rows: readonly Row[] }> {
  const text = `kind: flow\nlimits: { topics: { hot: { messages: ${limit}/s } } }\nproducers: [${producers.join()}]\nlink: { rttMs: ${rttMs} }\nstore: { latencyMs: 2 }\n${more}\n`;
  const { result } = await simulate(loadScenario(text, "a.yaml"));
  return { stats: result.stats as Stats, rows: result.rows as Row[] };
}

const hot = (id: string, perSecond: number, more: string): string =>
  `{ id: ${id}, topic: hot, perSecond: ${perSecond}, ${more} }`;

describe.each([1.5, 2, 4, 10])("a topic at %d times its limit", (factor) => {
  test.each([true, false])("does not hurt a victim on its connection; aware: %s", async (aware) => {
    const { stats } = await run(
      100,
      [
        hot("noisy", 100 * factor, `connection: 1, aware: ${aware}`),
        `{ id: victim, topic: cold, perSecond: 50, connection: 1, aware: ${aware} }`,
      ],
      { more: "durationS: 30" },
    );
    expect(stats.connections["1"]?.pausedMs).toBe(0);
    expect(stats.producers["victim"]).toMatchObject({ failed: 0, waitMs: { p50: 22, p99: 22 } });
    // At less than twice the limit the full bucket lasts for longer than the first second.
    if (factor >= 2) expect(stats.topics["hot"]?.maxSecondRatio).toBeLessThanOrEqual(1.05);
  });
});

test.each([
  [100, 1_000, 20],
  [1_000, 3_000, 20],
  [1_000, 3_000, 100],
])(
  "at %d/s a complying client that wants %d/s over %d ms has at most twice as much held as it sends in a round trip",
  async (limit, wanted, rttMs) => {
    const { stats } = await run(limit, [hot("p", wanted, "maxPending: 1000")], { rttMs });
    const { perSecond = 0, maxSecondRatio } = stats.topics["hot"] ?? {};
    expect(Math.abs(perSecond - limit)).toBeLessThanOrEqual(0.02 * limit);
    expect(maxSecondRatio).toBeLessThanOrEqual(1.05);
    expect(stats.connections["p"]?.pausedMs).toBe(0);
    const roundTrip = (wanted * rttMs) / 1_000;
    expect(stats.connections["p"]?.heldBytesMax).toBeLessThanOrEqual(2 * HELD_BYTES * roundTrip);
  },
);

test("clients that are told get as much as clients that are held", async () => {
  const producers = [true, false].flatMap((aware) =>
    [100, 300, 500].map((wanted) => hot(`p${aware}${wanted}`, wanted, `aware: ${aware}`)),
  );
  const { stats } = await run(200, producers);
  expect(stats.topics["hot"]?.jain).toBeGreaterThanOrEqual(0.99);
  expect(Object.values(stats.producers).every(({ failed }) => failed === 0)).toBe(true);
});

test("a client that is told has the whole limit as soon as its rival has left", async () => {
  const { rows } = await run(
    200,
    [hot("told", 500, "aware: true"), hot("held", 500, "aware: false")],
    {
      more: "durationS: 10\nevents: [{ atS: 5, leave: held }]",
    },
  );
  for (const { accepted } of rows.slice(2)) expect(accepted["hot"]).toBeGreaterThanOrEqual(180);
});

test("ten clients that are told, with different demands and send timeouts of a second, lose nothing", async () => {
  const producers = Array.from({ length: 10 }, (_, i) =>
    hot(`p${i}`, 10 + 20 * i, "sendTimeoutMs: 1000, maxPending: 15"),
  );
  const { stats } = await run(200, producers);
  expect(Object.values(stats.producers).map(({ failed }) => failed)).toEqual(
    producers.map(() => 0),
  );
  expect(stats.topics["hot"]?.jain).toBeGreaterThanOrEqual(0.99);
});
