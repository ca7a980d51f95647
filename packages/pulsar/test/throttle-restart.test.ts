/** What a producer sends when a pause has ended. */
import { afterEach, describe, expect, test } from "vitest";
import type { ProducerOptions } from "../src/client/producer/producer-options.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { closeAll, outcomeOf, produce, TOPIC } from "./throttled-producer.ts";
import { producerIdOf } from "./throttling-broker.ts";

afterEach(closeAll);

/** A producer whose SENDs are stored when the test says so, without batches unless given. */
async function producing(options: Partial<ProducerOptions> = {}) {
  const sent: { readonly sequenceId: bigint; readonly highestSequenceId?: bigint | undefined }[] =
    [];
  const broker = new ScriptedBroker({
    send: ({ body }) => {
      sent.push(body);
      return undefined;
    },
  });
  const world = await produce({ batching: false, sendTimeoutMs: 0, ...options }, broker);
  let stored = 0;
  /** Stores all that was sent so far; resolves once the producer knows. */
  const store = async (count = Infinity): Promise<void> => {
    const until = Math.min(sent.length, stored + count);
    const producerId = producerIdOf(broker.last, TOPIC);
    for (const { sequenceId, highestSequenceId } of sent.slice(stored, until))
      broker.last.tell({
        kind: "sendReceipt",
        body: { producerId, sequenceId, highestSequenceId },
      });
    stored = until;
    await world.timer.advance(0);
  };
  const send = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) outcomeOf(world.producer);
    await world.timer.advance(0);
  };
  return { ...world, sent, send, store };
}

describe("after a pause a producer", () => {
  test("goes on with four messages in flight, and half as many more each round trip", async () => {
    const { sent, send, store, timer, pause } = await producing();
    await pause("topic-rate", 500);
    await send(200);
    await timer.advance(500);
    const counts = [sent.length];
    for (let trip = 0; trip < 4; trip++) {
      await store();
      counts.push(sent.length);
    }
    expect(counts).toEqual([4, 10, 19, 33, 54]);
    expect(sent.map(({ sequenceId }) => Number(sequenceId))).toEqual(sent.map((_, i) => i));
  });

  test("goes on with half of what was in flight, whatever was stored meanwhile", async () => {
    const { sent, send, store, timer, pause } = await producing();
    await send(100);
    await pause("topic-rate", 500);
    await timer.advance(100);
    await store();
    // An extension does not count again.
    await pause("topic-rate", 600);
    await send(200);
    await timer.advance(600);
    expect(sent.length).toBe(150);
  });

  test.each([
    ["its end", 500],
    ["an early end", 0],
  ])("is free again a second after %s", async (_, pauseMs) => {
    const { sent, send, timer, pause } = await producing();
    await pause("topic-rate", 500);
    await send(100);
    if (pauseMs === 0) await pause("topic-rate", 0);
    await timer.advance(pauseMs + 999);
    await send(1);
    expect(sent.length).toBe(4);
    await timer.advance(1);
    await send(1);
    expect(sent.length).toBe(102);
  });

  test("sends batches that are larger than the window one at a time", async () => {
    const { sent, send, store, timer, pause } = await producing({
      batching: { messagesMax: 50, delayMaxMs: 5 },
    });
    await pause("topic-rate", 500);
    await send(200);
    await timer.advance(500);
    expect(sent.length).toBe(1);
    await store();
    expect(sent.length).toBe(2);
  });

  test("flushes all that it has, and closes", async () => {
    const { sent, send, store, timer, pause, producer } = await producing();
    await pause("topic-rate", 500);
    await send(40);
    let isClosed = false;
    const closing = producer.close().then(() => (isClosed = true));
    await timer.advance(500);
    while (sent.length < 40) await store();
    expect(isClosed).toBe(false);
    await store();
    await closing;
  });
});

test("a producer that was never told to pause has as many messages in flight as it may", async () => {
  const { sent, send, pause } = await producing({ pendingMessagesMax: 1_000 });
  // Information, and the end of no pause.
  await pause("memory", 0);
  await pause("topic-rate", 0);
  await send(1_000);
  expect(sent.length).toBe(1_000);
});

test("a new connection begins without the window of the last one", async () => {
  const { sent, send, timer, pause, broker } = await producing();
  await pause("topic-rate", 500);
  await send(50);
  broker.last.cut();
  await timer.advance(60_000);
  expect(sent.length).toBe(50);
});
