import fc from "fast-check";
import { expect, test } from "vitest";
import type { FlowEvent, FlowPlan } from "./flow-plan.ts";
import { runFlow } from "./run-flow.ts";

const DURATION_S = 4;
const HELD_BYTES_MAX = 60_000;
/** One read of a socket, which may be all of one frame. */
const READ_BYTES = 65_536;

const producer = fc.record({
  topic: fc.constantFrom("persistent://public/default/a", "persistent://public/default/b"),
  perSecond: fc.constantFrom(20, 150, 700),
  bytes: fc.constantFrom(10, 2_000),
  batch: fc.constantFrom(1, 7),
  connection: fc.constantFrom("1", "2"),
  isAware: fc.boolean(),
  fromS: fc.constantFrom(0, 0.7),
  untilS: fc.constantFrom(2.5, DURATION_S),
  sendTimeoutMs: fc.constantFrom(0, 700, 30_000),
  maxPending: fc.constantFrom(10, 200),
});

const rate = fc.constantFrom({ messages: 30 }, { messages: 300 }, { messages: 100, bytes: 50_000 });

const event = fc.record({
  atMs: fc.integer({ min: 0, max: 3_999 }),
  action: fc.oneof(
    fc.record({
      do: fc.constant("limits" as const),
      limits: fc.record({
        topics: fc.record({
          "persistent://public/default/a": fc.oneof(rate, fc.constant("none" as const)),
        }),
        groups: fc.constant({}),
      }),
    }),
    fc.record({ do: fc.constant("leave" as const), producer: fc.constantFrom("p0", "p1") }),
    fc.record({ do: fc.constant("ignore" as const), producer: fc.constantFrom("p0", "p2") }),
  ),
});

const plan: fc.Arbitrary<FlowPlan> = fc
  .record({
    producers: fc.array(producer, { minLength: 1, maxLength: 5 }),
    events: fc.array(event, { maxLength: 3 }),
    own: fc.option(rate, { nil: undefined }),
    broker: fc.option(rate, { nil: undefined }),
    rttMs: fc.constantFrom(0, 3, 50),
    storeLatencyMs: fc.constantFrom(0, 2, 40),
    seed: fc.nat(1_000),
  })
  .map(({ producers, events, own, broker, ...rest }) => ({
    ...rest,
    limits: {
      topics: own === undefined ? {} : { "persistent://public/default/a": own },
      groups: {},
      broker,
      connection: { heldBytes: HELD_BYTES_MAX, pendingMessages: 50 },
    },
    producers: producers.map((each, i) => ({ ...each, id: `p${i}` })),
    events: (events as FlowEvent[]).toSorted((a, b) => a.atMs - b.atMs),
    durationS: DURATION_S,
  }));

test("whatever the limits, clients and events: order holds, no message counts twice, and bounds are kept", async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const { producers, topics, connections } = await runFlow(given);
      let accepted = 0;
      for (const figures of producers.values()) {
        expect(figures.disordered).toBe(0);
        expect(figures.accepted + figures.failed).toBeLessThanOrEqual(figures.sent);
        expect(figures.receipts).toBeLessThanOrEqual(figures.notices);
        accepted += figures.accepted;
      }
      const stored = [...topics.values()].reduce((sum, { total }) => sum + total, 0);
      expect(accepted).toBeLessThanOrEqual(stored);
      for (const { heldBytesMax, pausedMs } of connections.values()) {
        expect(heldBytesMax).toBeLessThanOrEqual(HELD_BYTES_MAX + 2 * READ_BYTES);
        expect(pausedMs).toBeLessThanOrEqual(DURATION_S * 1_000);
      }
    }),
    { numRuns: 40 },
  );
});

test("a run is the same each time", async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const [one, again] = [await runFlow(given), await runFlow(given)];
      for (const [id, figures] of one.producers) {
        const { accepted, failed, sent, notices, perSecond } = again.producers.get(id) ?? figures;
        expect({ accepted, failed, sent, notices, perSecond }).toEqual({
          accepted: figures.accepted,
          failed: figures.failed,
          sent: figures.sent,
          notices: figures.notices,
          perSecond: figures.perSecond,
        });
      }
      expect(again.memoryBytesMax).toBe(one.memoryBytesMax);
    }),
    { numRuns: 10 },
  );
});
