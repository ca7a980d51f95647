/** Who gets a message, and who gets it again. */
import { expect } from "vitest";
import { bodyOf, digestOf } from "./body.ts";
import type { Case } from "./case.ts";
import {
  begin,
  consume,
  expectSilence,
  produce,
  range,
  SHARED_READING,
  subscribed,
} from "./stage.ts";

const SHARED: Case = {
  name: "two consumers share a subscription: each gets some, together they get each once",
  needs: [],
  async run(stage) {
    const [few, total] = [100, 2_000];
    const half = { count: total / 2, sizeBytes: 100, batching: false };
    const shared = { ...SHARED_READING, list: true };
    const runs = [
      begin(stage, { ...shared, count: few }),
      begin(stage, { ...shared, count: total - few }),
    ];
    for (const { ready } of runs) await ready;
    await produce(stage, half);
    // The second consumer waits for more than there is, so the first gets its few beside it.
    await runs[0]?.outcome;
    await produce(stage, { ...half, start: half.count });
    const outcomes = await Promise.all(runs.map(({ outcome }) => outcome));
    expect(outcomes.map(({ received }) => received)).toEqual([few, total - few]);
    const bodies = outcomes.flatMap(({ messages }) => messages.map(({ body }) => body));
    const expected = range(0, total).map((index) => bodyOf(index, half).toString("base64"));
    expect(bodies.toSorted()).toEqual(expected.toSorted());
  },
};

const NACKED: Case = {
  name: "a message that is given back comes again, and says that it does",
  needs: [],
  async run(stage) {
    const sent = { count: 200, sizeBytes: 100, batching: false };
    await subscribed(stage, SHARED_READING);
    await produce(stage, sent);
    const reading = { ...SHARED_READING, count: 200, nackEvery: 10 };
    const outcome = await consume(stage, reading);
    expect(outcome).toMatchObject({ distinct: 200, digest: digestOf(range(0, 200), sent) });
    expect(outcome.duplicates).toBeGreaterThanOrEqual(20);
    expect(outcome.redelivered).toBeGreaterThanOrEqual(20);
    await expectSilence(stage, SHARED_READING);
  },
};

const UNACKED: Case = {
  name: "what a consumer did not ack goes to the next one, whether it closed or vanished",
  needs: [],
  async run(stage) {
    const sent = { count: 100, sizeBytes: 100, batching: false };
    await subscribed(stage, SHARED_READING);
    await produce(stage, sent);
    for (const abort of [false, true]) {
      const unacked = await consume(stage, { ...SHARED_READING, ack: "none", count: 100, abort });
      expect(unacked.distinct).toBe(100);
    }
    const again = await consume(stage, { ...SHARED_READING, count: 100 });
    expect(again).toMatchObject({ distinct: 100, digest: digestOf(range(0, 100), sent) });
    await expectSilence(stage, SHARED_READING);
  },
};

const CUMULATIVE: Case = {
  name: "a cumulative ack settles all before it and nothing after it",
  needs: [],
  async run(stage) {
    const sent = { count: 100, sizeBytes: 100, batching: false };
    await subscribed(stage);
    await produce(stage, sent);
    await consume(stage, { count: 60, ack: "cumulative" });
    const rest = await consume(stage, { count: 40 });
    expect(rest).toMatchObject({ received: 40, digest: digestOf(range(60, 100), sent) });
    await expectSilence(stage, {});
  },
};

const FAILOVER: Case = {
  name: "in a failover subscription the second consumer goes on where the first has left",
  needs: [],
  async run(stage) {
    const sent = { count: 200, sizeBytes: 100, batching: false };
    const type = "failover" as const;
    const first = begin(stage, { type, count: 80 });
    await first.ready;
    const second = begin(stage, { type, count: 120 });
    await second.ready;
    await produce(stage, sent);
    const outcomes = [await first.outcome, await second.outcome];
    const received = outcomes.map((outcome) => outcome.distinct).toSorted((a, b) => a - b);
    expect(received).toEqual([80, 120]);
    for (const outcome of outcomes) expect(outcome.perKeyOrderBroken).toBe(0);
  },
};

export const SUBSCRIPTION_CASES: readonly Case[] = [SHARED, NACKED, UNACKED, CUMULATIVE, FAILOVER];
