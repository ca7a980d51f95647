import { loadScenario, reportLines, simulate } from "@sluice/lab";
import type { Simulation } from "@sluice/lab";
import { describe, expect, test } from "vitest";

interface ProducerStats {
  readonly accepted: number;
  readonly perSecond: number;
  readonly failed: number;
  readonly waitMs: { readonly p50: number; readonly p99: number };
  readonly throttledMs: Readonly<Record<string, number>>;
  readonly notices: number;
  readonly receipts: number;
}

interface Stats {
  readonly producers: Readonly<Record<string, ProducerStats>>;
  readonly connections: Readonly<Record<string, { pausedMs: number; heldBytesMax: number }>>;
  readonly topics: Readonly<
    Record<string, { perSecond: number; maxSecondRatio: number | null; jain: number | null }>
  >;
  readonly memoryBytesMax: number;
}

interface Row {
  readonly t: number;
  readonly accepted: Readonly<Record<string, number>>;
}

const run = (text: string): Promise<Simulation> => simulate(loadScenario(text, "a.yaml"));
const statsOf = async (text: string): Promise<Stats> => (await run(text)).result.stats as Stats;

const flow = (limits: string, producers: readonly string[], more = "durationS: 10"): string =>
  `kind: flow\nlimits: ${limits}\nproducers: [${producers.join()}]\nlink: { rttMs: 20 }\nstore: { latencyMs: 2 }\n${more}\n`;

/** The limit becomes this. */
const change = (atS: number, limit: number): string =>
  `{ atS: ${atS}, limits: { topics: { hot: { messages: ${limit}/s } } } }`;

/** As the test of a live change sets it. */
const limitAt = (second: number): number => {
  if (second < 5) return 100;
  return second < 10 ? 300 : 50;
};

const printed = async (each: string): Promise<string> => {
  const simulation = await run(each);
  return `${JSON.stringify(simulation.result)}${[...reportLines(simulation)].join()}${simulation.svg()}`;
};

const HOT = "{ topics: { hot: { messages: 100/s } } }";

test("without limits every message is accepted a round trip and a store's time later", async () => {
  const { producers, topics, connections } = await statsOf(
    flow("{}", ["{ id: p, topic: t, perSecond: 200 }"]),
  );
  expect(producers["p"]).toMatchObject({
    failed: 0,
    waitMs: { p50: 22, p99: 22 },
    throttledMs: {},
    notices: 0,
    receipts: 0,
  });
  // Those of the last 22 ms have no receipt yet.
  expect(producers["p"]?.accepted).toBeGreaterThanOrEqual(1_994);
  expect(producers["p"]?.perSecond).toBeCloseTo(200, -1);
  expect(topics["t"]).toMatchObject({ maxSecondRatio: null, jain: null });
  expect(connections).toEqual({ p: { pausedMs: 0, heldBytesMax: 0 } });
});

describe.each([
  ["aware", true],
  ["unaware", false],
])("%s producers", (_, aware) => {
  // An aware producer pauses until a part of the bucket is full, which then goes at once.
  const ratioMax = aware ? 1.05 : 1.01;

  test.each([1, 10, 50])(
    "with %i messages per SEND keep a limit within 2 percent",
    async (batch) => {
      const producer = (id: number): string =>
        `{ id: p${id}, topic: hot, perSecond: 1000, batch: ${batch}, aware: ${aware} }`;
      const { topics } = await statsOf(
        flow("{ topics: { hot: { messages: 500/s } } }", [producer(1), producer(2)]),
      );
      expect(topics["hot"]?.perSecond).toBeGreaterThan(490);
      expect(topics["hot"]?.perSecond).toBeLessThan(510);
      expect(topics["hot"]?.maxSecondRatio).toBeLessThan(ratioMax + (2 * batch) / 500);
    },
  );

  test("share a limit evenly", async () => {
    const producers = Array.from(
      { length: 10 },
      (__, i) =>
        `{ id: p${i}, topic: hot, perSecond: 400, maxPending: 100, aware: ${aware}, batch: ${1 + (i % 3)} }`,
    );
    const { topics } = await statsOf(flow("{ topics: { hot: { messages: 200/s } } }", producers));
    expect(topics["hot"]?.jain).toBeGreaterThanOrEqual(0.99);
  });

  test("slow nobody else on their connection, and do not make its socket wait", async () => {
    const victim = `{ id: victim, topic: cold, perSecond: 50, connection: 1, aware: ${aware} }`;
    const noisy = `{ id: noisy, topic: hot, perSecond: 1000, connection: 1, aware: ${aware} }`;
    const more = "durationS: 20";
    const alone = await statsOf(flow(HOT, [victim], more));
    const { producers, connections } = await statsOf(flow(HOT, [noisy, victim], more));
    expect(producers["victim"]?.perSecond).toBeGreaterThanOrEqual(0.98 * 50);
    expect(producers["victim"]?.failed).toBe(0);
    const alonePercentile = alone.producers["victim"]?.waitMs.p99 ?? 0;
    expect(producers["victim"]?.waitMs.p99).toBeLessThanOrEqual(1.2 * alonePercentile + 5);
    expect(producers["victim"]?.throttledMs).toEqual({});
    expect(connections["1"]?.pausedMs).toBe(0);
    expect(producers["noisy"]?.throttledMs["topic-rate"]).toBeGreaterThan(19_000);
  });

  test("use a raised limit in the same second, and keep to a lowered one", async () => {
    const producers = [`{ id: p, topic: hot, perSecond: 1000, aware: ${aware} }`];
    const more = `durationS: 15\nevents: [${change(5, 300)}, ${change(10, 50)}]`;
    const rows = (await run(flow(HOT, producers, more))).result.rows as Row[];
    for (const { t, accepted } of rows.slice(1))
      expect(Math.abs((accepted["hot"] ?? 0) - limitAt(t)), `second ${t}`).toBeLessThanOrEqual(
        0.12 * limitAt(t),
      );
  });
});

test("a limit that is lifted lets everything go at once", async () => {
  const more = "durationS: 10\nevents: [{ atS: 5, limits: { topics: { hot: none } } }]";
  const { result } = await run(
    flow(HOT, ["{ id: p, topic: hot, perSecond: 300, aware: false }"], more),
  );
  const counts = (result.rows as Row[]).map(({ accepted }) => accepted["hot"] ?? 0);
  // What was held goes in the first second.
  expect(counts[5]).toBeGreaterThan(900);
  expect(counts[8]).toBeCloseTo(300, -1);
});

test("an aware client confirms every notice, and an unaware one gets none", async () => {
  const { producers } = await statsOf(
    flow(HOT, [
      "{ id: told, topic: hot, perSecond: 200 }",
      "{ id: held, topic: hot, perSecond: 200, aware: false }",
    ]),
  );
  const { notices = 0, receipts = 0 } = producers["told"] ?? {};
  expect(notices).toBeGreaterThan(0);
  expect(notices - receipts).toBeLessThanOrEqual(1);
  expect(producers["held"]).toMatchObject({ notices: 0, receipts: 0 });
});

test("a producer that ignores notices gets no more than its limit, and harms nobody", async () => {
  const { producers, topics } = await statsOf(
    flow(
      HOT,
      [
        "{ id: liar, topic: hot, perSecond: 1000, connection: 1 }",
        "{ id: victim, topic: cold, perSecond: 50, connection: 1 }",
      ],
      "durationS: 20\nevents: [{ atS: 2, ignoreReceipts: liar }]",
    ),
  );
  expect(topics["hot"]?.perSecond).toBeLessThan(102);
  const { notices = 0, receipts = 0 } = producers["liar"] ?? {};
  expect(notices).toBeGreaterThan(receipts);
  expect(producers["victim"]?.perSecond).toBeGreaterThanOrEqual(0.98 * 50);
  expect(producers["victim"]?.waitMs.p99).toBeLessThan(32);
});

test("what a client had waiting when it left is dropped, and its share goes to the others at once", async () => {
  const { result } = await run(
    flow(
      HOT,
      [
        "{ id: leaver, topic: hot, perSecond: 500, aware: false }",
        "{ id: stayer, topic: hot, perSecond: 500, aware: false }",
      ],
      "durationS: 12\nevents: [{ atS: 6, leave: leaver }]",
    ),
  );
  const { producers } = result.stats as Stats;
  for (const { t, accepted } of (result.rows as Row[]).slice(1))
    expect(accepted["hot"], `second ${t}`).toBeCloseTo(100, -1);
  expect(producers["leaver"]?.failed).toBeGreaterThan(500);
  // Half of 6 s, then all of 6 s.
  expect(producers["stayer"]?.accepted).toBeGreaterThan(0.97 * (300 + 600));
});

test("a producer that leaves a shared connection is closed, and the others go on", async () => {
  const { producers } = await statsOf(
    flow(
      "{}",
      [
        "{ id: leaver, topic: hot, perSecond: 100, connection: 1 }",
        "{ id: stayer, topic: hot, perSecond: 100, connection: 1 }",
      ],
      "durationS: 6\nevents: [{ atS: 3, leave: leaver }]",
    ),
  );
  expect(producers["leaver"]).toMatchObject({ accepted: 300, failed: 0 });
  expect(producers["stayer"]?.perSecond).toBeCloseTo(100, -1);
});

test("a store that is slow makes the gateway stop reading at the bound of pending messages", async () => {
  const text = flow("{ connection: { pendingMessages: 10 } }", [
    "{ id: p, topic: t, perSecond: 1000, aware: false }",
  ]).replace("latencyMs: 2", "latencyMs: 100");
  const { producers, connections } = await statsOf(text);
  // Ten in 100 ms; reading goes on at half of them.
  expect(producers["p"]?.perSecond).toBeLessThanOrEqual(101);
  expect(connections["p"]?.pausedMs).toBeGreaterThan(5_000);
  expect(producers["p"]?.throttledMs["connection-pending"]).toBeGreaterThan(5_000);
});

test("held bytes stop at their bound, and a message that waits too long fails", async () => {
  const { producers, connections } = await statsOf(
    flow("{ topics: { hot: { messages: 10/s } }, connection: { heldBytes: 100KB } }", [
      "{ id: p, topic: hot, perSecond: 1000, aware: false, sendTimeoutMs: 3000 }",
    ]),
  );
  // One chunk of the socket more, of 64 KiB, was read before.
  expect(connections["p"]?.heldBytesMax).toBeLessThan(100_000 + 2 * 65_536);
  expect(connections["p"]?.pausedMs).toBeGreaterThan(5_000);
  expect(producers["p"]?.failed).toBeGreaterThan(1_000);
});

test("groups and the broker limit their topics together", async () => {
  const { topics } = await statsOf(
    flow(
      '{ groups: { bulk: { topics: ["hot*"], messages: 100/s } }, broker: { bytes: 500KB/s } }',
      ["hot-1", "hot-2", "cold"].map(
        (topic) => `{ id: ${topic}, topic: ${topic}, perSecond: 600, bytes: 2000, aware: false }`,
      ),
    ),
  );
  const [one = 0, two = 0, cold = 0] = Object.values(topics).map(({ perSecond }) => perSecond);
  expect(one + two).toBeGreaterThan(97);
  expect(one + two).toBeLessThan(103);
  // An entry is larger than its message by some bytes.
  expect(one + two + cold).toBeLessThanOrEqual(250);
  expect(one + two + cold).toBeGreaterThan(220);
});

test("the same seed gives the same bytes, another one others", async () => {
  const text = flow(HOT, [
    "{ id: a, topic: hot, perSecond: 150 }",
    "{ id: b, topic: public/default/hot, perSecond: 90, aware: false }",
  ]);
  const first = await printed(text);
  expect(await printed(text)).toBe(first);
  expect(await printed(`${text}seed: 2\n`)).not.toBe(first);
});

test("a topic has one name in all that is printed, and the chart shows its limit, pauses and events", async () => {
  const more =
    "durationS: 5\nevents: [{ atS: 2, limits: { topics: { hot: { messages: 50/s } } } }]";
  const simulation = await run(
    flow(
      HOT,
      [
        "{ id: a, topic: public/default/hot, perSecond: 150, connection: 1 }",
        "{ id: b, topic: hot, perSecond: 90, connection: 1 }",
      ],
      more,
    ),
  );
  const stats = simulation.result.stats as Stats;
  expect(Object.keys(stats.topics)).toEqual(["public/default/hot"]);
  const { series, below, markers } = simulation.run.chart();
  expect(series.map(({ label }) => label)).toEqual([
    "public/default/hot",
    "limit of public/default/hot",
  ]);
  expect(series[1]?.points).toEqual([
    { x: 0, y: 100 },
    { x: 1, y: 100 },
    { x: 2, y: 50 },
    { x: 3, y: 50 },
    { x: 4, y: 50 },
  ]);
  expect(below?.[0]?.series.map(({ label }) => label)).toEqual(["connection 1"]);
  expect(markers).toEqual([{ x: 2, label: "limit of public/default/hot" }]);
});
