import { afterEach, describe, expect, test } from "vitest";
import { ProducerThrottledError } from "../src/client/error/producer-throttled-error.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { closeAll, outcomeOf, produce, TOPIC } from "./throttled-producer.ts";

afterEach(closeAll);

describe("a send timeout", () => {
  test("shorter than the rest of the pause fails the message before it is taken", async () => {
    const { broker, producer, timer, pause } = await produce({ sendTimeoutMs: 500 });
    await pause("group-rate", 900);
    await timer.advance(300);
    const error: unknown = await producer.send({ data: "" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProducerThrottledError);
    expect(error).toMatchObject({
      name: "ProducerThrottledError",
      code: "THROTTLED",
      topic: TOPIC,
      reason: "group-rate",
      pauseLeftMs: 600,
      mayBeStored: false,
    });
    expect(String(error)).toContain(
      "(group-rate) for another 600 ms, longer than sendTimeoutMs (500); the message was not taken: send it after the pause",
    );
    expect([producer.pendingMessages, producer.lastSequenceId]).toEqual([0, -1n]);
    await timer.advance(100);
    const sent = outcomeOf(producer);
    await timer.advance(500);
    expect(sent.value).toBe("7:0:-1");
    expect(broker.stored.map(({ sequenceId }) => sequenceId)).toEqual([0n]);
  });

  test("that passes during an extended pause fails with the reason", async () => {
    const { producer, timer, pause, events } = await produce({ sendTimeoutMs: 1_000 });
    await pause("topic-rate", 800);
    const sends = [outcomeOf(producer), outcomeOf(producer)];
    await timer.advance(500);
    await pause("broker-rate", 2_000);
    await timer.advance(500);
    for (const { value } of sends) {
      expect(value).toMatchObject({
        code: "THROTTLED",
        reason: "broker-rate",
        pauseLeftMs: 1_500,
        mayBeStored: true,
      });
      expect(String(value)).toContain("was not stored within 1000 ms, because the broker limits");
    }
    expect(events.at(-1)).toMatchObject({ type: "timedOut", messages: 2 });
    expect(producer.pendingMessages).toBe(0);
  });

  test.each([
    [799, "DEADLINE"],
    [800, "DEADLINE"],
    [801, "THROTTLED"],
  ])("of 1,000 ms with a pause of %d ms in it is the error %s", async (pauseMs, code) => {
    const broker = new ScriptedBroker({ send: () => undefined });
    const { producer, timer, pause } = await produce({ sendTimeoutMs: 1_000 }, broker);
    // Time throttled before the call of `send` does not count.
    await pause("topic-rate", 5_000);
    await timer.advance(5_000);
    const sent = outcomeOf(producer);
    await timer.advance(100);
    await pause("topic-rate", pauseMs);
    await timer.advance(900);
    expect(sent.value).toMatchObject({ code });
  });

  test("of a message that waits for room counts from its own call", async () => {
    const broker = new ScriptedBroker({ send: () => undefined });
    const options = { sendTimeoutMs: 1_000, pendingMessagesMax: 1 };
    const { producer, timer, pause } = await produce(options, broker);
    const first = outcomeOf(producer);
    await timer.advance(900);
    const second = outcomeOf(producer);
    await pause("topic-rate", 1_000);
    await timer.advance(100);
    expect(first.value).toMatchObject({ code: "DEADLINE" });
    await timer.advance(900);
    expect(second.value).toMatchObject({ code: "THROTTLED", mayBeStored: true });
  });
});

test("a message that waited for room through its whole timeout was not taken, and its error says so", async () => {
  const options = { sendTimeoutMs: 1_000, pendingMessagesMax: 1 };
  const { producer, timer, pause } = await produce(options);
  await pause("topic-rate", 900);
  const sends = [outcomeOf(producer), outcomeOf(producer)];
  await timer.advance(500);
  await pause("topic-rate", 900);
  await timer.advance(500);
  expect(sends.map(({ value }) => value)).toMatchObject([
    { code: "THROTTLED", mayBeStored: true },
    { code: "THROTTLED", mayBeStored: false },
  ]);
});

describe("during a pause", () => {
  test("close waits for the end of the pause and its receipts", async () => {
    const { broker, producer, timer, pause } = await produce();
    await pause("topic-rate", 700);
    const sent = outcomeOf(producer);
    let isClosed = false;
    const closing = producer.close().then(() => (isClosed = true));
    await timer.advance(699);
    expect([isClosed, broker.last.countOf("send")]).toEqual([false, 0]);
    await timer.advance(1);
    await closing;
    expect(sent.value).toBe("7:0:-1");
    expect(broker.last.countOf("closeProducer")).toBe(1);
  });

  test("close gives up after operationTimeoutMs, and the messages fail", async () => {
    const { broker, producer, timer, pause } = await produce({ sendTimeoutMs: 0 });
    await pause("topic-rate", 100_000);
    const sent = outcomeOf(producer);
    const closing = producer.close();
    await timer.advance(30_000);
    await closing;
    expect(sent.value).toMatchObject({ code: "CLOSED" });
    expect(broker.last.countOf("send")).toBe(0);
    expect(broker.last.countOf("closeProducer")).toBe(1);
  });

  test("a signal ends the wait of an accepted message and withdraws one that waits for room", async () => {
    const { broker, producer, timer, pause } = await produce({ pendingMessagesMax: 1 });
    await pause("topic-rate", 700);
    const accepted = new AbortController();
    const waiting = new AbortController();
    const errors: unknown[] = [];
    for (const { signal } of [accepted, waiting])
      producer.send({ data: "" }, { signal }).catch((error: unknown) => errors.push(error));
    accepted.abort("first");
    waiting.abort("second");
    await timer.advance(0);
    expect(errors).toEqual(["first", "second"]);
    await timer.advance(700);
    expect(broker.stored.map(({ sequenceId }) => sequenceId)).toEqual([0n]);
    await expect(producer.send({ data: "" })).resolves.toBeDefined();
  });

  test("room is bounded, and waiters follow in order after it", async () => {
    const { broker, producer, timer, pause } = await produce({ pendingMessagesMax: 2 });
    await pause("topic-rate", 700);
    const sends = Array.from({ length: 9 }, (_, index) => producer.send({ data: `${index}` }));
    await timer.advance(0);
    expect(producer.pendingMessages).toBe(2);
    await timer.advance(700);
    await Promise.all(sends);
    expect(broker.stored.map(({ sequenceId }) => Number(sequenceId))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });
});
