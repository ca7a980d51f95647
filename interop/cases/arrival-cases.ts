/** What is sent arrives, whatever its form. */
import { expect } from "vitest";
import { bodyOf, digestOf } from "./body.ts";
import type { Case } from "./case.ts";
import type { Compression, ConsumeOutcome } from "../drivers/driver.ts";
import { all, begin, consume, produce, range, READING, subscribed, throughCut } from "./stage.ts";
import type { Stage } from "./stage.ts";

const SINGLE: Case = {
  name: "single messages arrive in order with body and properties",
  needs: [],
  async run(stage) {
    const properties = { name: "value", empty: "", ключ: "значение ✓" };
    const sent = { count: 50, sizeBytes: 200, batching: false, properties };
    await subscribed(stage);
    await produce(stage, sent);
    const { messages, ...tally } = await consume(stage, { count: 50, list: true });
    expect(tally).toMatchObject(all(50, sent));
    expect(messages.map(({ body }) => body)).toEqual(
      range(0, 50).map((index) => bodyOf(index, sent).toString("base64")),
    );
    for (const message of messages) expect(message.properties).toEqual(properties);
  },
};

const BATCHED: Case = {
  name: "batched messages arrive in order, none twice",
  needs: [],
  async run(stage) {
    const sent = { count: 2_000, sizeBytes: 120, batching: true, properties: { a: "b" } };
    await subscribed(stage);
    await produce(stage, sent);
    expect(await consume(stage, { count: 2_000 })).toMatchObject(all(2_000, sent));
  },
};

const IDS: Case = {
  name: "keys arrive, and receipts name the ids under which messages arrive",
  needs: ["keys", "ids"],
  async run(stage) {
    for (const batching of [false, true]) {
      const own = { ...stage, topic: `${stage.topic}-${batching ? "batched" : "single"}` };
      const sent = { count: 30, sizeBytes: 60, keys: 3, batching, list: true };
      const { messageIds } = await produce(own, sent);
      const { messages } = await consume(own, { count: 30, list: true });
      expect(messages.map(({ messageId }) => messageId)).toEqual(messageIds);
      expect(messages.map(({ key }) => key)).toEqual(range(0, 30).map((index) => `k${index % 3}`));
    }
  },
};

/** One topic for several compressions: a consumer that is started for each costs more than its messages. */
function compressed(compressions: readonly Compression[]): Case {
  return {
    name: `messages that are compressed by ${compressions.join(", ")} arrive`,
    needs: compressions,
    async run(stage) {
      const sent = { count: 300, sizeBytes: 500, batching: true };
      const total = compressions.length * sent.count;
      await subscribed(stage);
      for (const [place, compression] of compressions.entries())
        await produce(stage, { ...sent, compression, start: place * sent.count });
      expect(await consume(stage, { count: total })).toMatchObject(all(total, sent));
    },
  };
}

// Not every version of Node has zstd.
const COMPRESSED: readonly Case[] = [compressed(["lz4", "zlib", "snappy"]), compressed(["zstd"])];

const LARGE: Case = {
  name: "messages of a megabyte arrive whole",
  needs: [],
  async run(stage) {
    const sent = { count: 10, sizeBytes: 1 << 20, batching: false };
    await subscribed(stage);
    await produce(stage, sent);
    expect(await consume(stage, { count: 10 })).toMatchObject(all(10, sent));
  },
};

const PARTITIONED: Case = {
  name: "a topic of three partitions keeps the order of each key",
  needs: ["keys", "partitions"],
  partitions: 3,
  async run(stage) {
    const sent = { count: 3_000, sizeBytes: 100, keys: 16, batching: true };
    await subscribed(stage);
    await produce(stage, sent);
    const { messages, ...tally } = await consume(stage, { count: 3_000, list: true });
    expect(tally).toMatchObject(all(3_000, sent));
    const partitions = new Set(messages.map(({ messageId }) => messageId.split(":")[2]));
    expect(partitions).toEqual(new Set(["0", "1", "2"]));
  },
};

const ONE_PARTITION: Case = {
  name: "one partition of a partitioned topic is a topic by its own name",
  needs: [],
  partitions: 3,
  async run(stage) {
    const own = { ...stage, topic: `${stage.topic}-partition-1` };
    const sent = { count: 100, sizeBytes: 100, batching: false };
    await subscribed(own);
    await produce(own, sent);
    expect(await consume(own, { count: 100 })).toMatchObject(all(100, sent));
  },
};

const SEVERAL: Case = {
  name: "one consumer reads several topics, by their names or by a pattern",
  needs: ["patterns"],
  async run(stage) {
    const topics = ["a", "b", "c"].map((suffix) => `${stage.topic}-${suffix}`);
    const sent = { count: 50, sizeBytes: 100, batching: false };
    for (const [place, topic] of topics.entries())
      await produce({ ...stage, topic }, { ...sent, start: place * 50 });
    const expected = { received: 150, duplicates: 0, digest: digestOf(range(0, 150), sent) };
    const { consumer, serviceUrl } = stage;
    const reading = { ...READING, count: 150 };
    const byName = consumer.consume(serviceUrl, { ...reading, topics });
    expect(await byName.outcome).toMatchObject(expected);
    const pattern = `${stage.topic}-.*`;
    const matched = { ...reading, subscription: "pattern", pattern };
    expect(await consumer.consume(serviceUrl, matched).outcome).toMatchObject(expected);
  },
};

const MANY: Case = {
  name: "100,000 messages of 16 keys: none lost, none twice, none out of the order of its key",
  needs: [],
  async run(stage) {
    const sent = { count: 100_000, sizeBytes: 100, keys: 16, batching: true };
    const reading = begin(stage, { count: 100_000, timeoutMs: 90_000 });
    await reading.ready;
    await produce(stage, sent);
    expect(await reading.outcome).toMatchObject(all(100_000, sent));
  },
};

/** Messages come again after a cut, so only time ends a consumer; a busy machine may need more of it. */
async function patientConsume(stage: Stage, count: number): Promise<ConsumeOutcome> {
  const reading = { count: 1e9, subscription: "cut" };
  const outcome = await consume(stage, { ...reading, timeoutMs: 8_000 });
  if (outcome.distinct === count) return outcome;
  return consume(stage, { ...reading, subscription: "cut-again", timeoutMs: 30_000 });
}

const CUT: Case = {
  name: "connections that are cut in the middle of a frame lose nothing and change no order",
  needs: ["reconnection"],
  async run(stage) {
    const sent = { count: 20_000, sizeBytes: 100, keys: 16, batching: true };
    await throughCut(stage, async (cut) => {
      await produce(cut, sent);
    });
    await throughCut(stage, async (cut) => {
      const { distinct, digest, perKeyOrderBroken } = await patientConsume(cut, 20_000);
      expect({ distinct, digest, perKeyOrderBroken }).toEqual({
        distinct: 20_000,
        digest: digestOf(range(0, 20_000), sent),
        perKeyOrderBroken: 0,
      });
    });
  },
};

export const ARRIVAL_CASES: readonly Case[] = [
  SINGLE,
  BATCHED,
  IDS,
  ...COMPRESSED,
  LARGE,
  PARTITIONED,
  ONE_PARTITION,
  SEVERAL,
  MANY,
  CUT,
];

/** Between clients of different makers it is the formats that could differ. */
export const CROSSING_CASES: readonly Case[] = [SINGLE, BATCHED, ...COMPRESSED, PARTITIONED];
