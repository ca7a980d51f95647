/** Faults of other limiters, docs/decisions/0021-known-faults.md, that no other test would find here. */
import { ConfigError } from "@sluice/core";
import { afterEach, describe, expect, test } from "vitest";
import { startTestBroker } from "./broker-world.ts";
import type { TestBroker } from "./broker-world.ts";
import { IngressScene } from "./ingress-scene.ts";
import { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

const stops: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function producerOf({ port }: TestBroker, topic: string): Promise<RawClient> {
  const client = await RawClient.connected(port);
  stops.push(() => client.close());
  client.send("producer", { topic, producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  return client;
}

test("a limit holds for a topic that is unloaded and loaded again, and its debt is not forgiven", async () => {
  const broker = await startTestBroker({ limits: { topics: { hot: { messages: 2 } } } });
  stops.push(() => broker.close());
  const first = await producerOf(broker, "hot");
  for (let sequenceId = 0n; sequenceId < 2n; sequenceId++)
    first.send("send", { producerId: 1n, sequenceId }, entryOf("x"));
  expect((await first.next("sendReceipt")).sequenceId).toBe(0n);
  expect((await first.next("sendReceipt")).sequenceId).toBe(1n);
  await broker.administered.broker.unloadTopic("persistent://public/default/hot");
  await first.next("closeProducer");
  const second = await producerOf(broker, "hot");
  second.send("send", { producerId: 1n, sequenceId: 2n }, entryOf("x"));
  second.send("ping", {});
  // The PONG comes first: the SEND waits for a limit that the first producer has used up.
  expect((await second.nextAny()).command.kind).toBe("pong");
  await broker.timer.advance(500);
  expect((await second.next("sendReceipt")).sequenceId).toBe(2n);
});

describe("a rate", () => {
  test.each([2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    "of %d a second lets everything pass, also after an hour",
    (rate) => {
      const scene = new IngressScene({ topicDefault: { messages: rate, bytes: rate } });
      const producer = scene.client().open("t");
      for (const untilMs of [0, 1, 1_000, 3_600_000]) {
        scene.run(untilMs);
        for (let count = 0; count < 100; count++) expect(producer.send(1_000, 100_000)).toBe(true);
      }
    },
  );

  test.each([0, -1, Number.NaN, 0.5, 1e308, Infinity])(
    "of %d is refused while frames wait, and the limit that was there goes on",
    (messages) => {
      const scene = new IngressScene({ topics: { t: { messages: 10 } } });
      const producer = scene.client().open("persistent://public/default/t");
      for (let count = 0; count < 15; count++) producer.send();
      const set = (): void =>
        scene.ingress.limits.set({ level: "topic", name: "t" }, { messages }, scene.nowMs);
      expect(set).toThrow(ConfigError);
      expect(producer.went.length).toBe(10);
      scene.run(1_000);
      expect(producer.went.length).toBe(15);
    },
  );
});
