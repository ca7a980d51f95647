import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo } from "./virtual-client.ts";
import { consumingClient, TOPIC } from "./virtual-consumer.ts";

/** Warnings of this process while `work` runs, and for a turn of the event loop after it. */
async function warningsOf(work: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", onWarning);
  try {
    await work();
    await new Promise<void>((resolve) => process.nextTick(resolve));
  } finally {
    process.off("warning", onWarning);
  }
  return warnings;
}

test("1,000 sends with one signal add one listener, warn of nothing, and leave none", async () => {
  const broker = new ScriptedBroker({ send: () => undefined });
  const { client, timer } = await connectTo(broker);
  const producer = await client.createProducer({ topic: "t" });
  const { signal } = new AbortController();
  const warnings = await warningsOf(async () => {
    const sends = Array.from({ length: 1_000 }, () => producer.send({ data: "" }, { signal }));
    await timer.advance(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    broker.script.send = (command, session, entry) => broker.store(command, session, entry);
    broker.last.cut();
    await timer.advance(1_000);
    await Promise.all(sends);
  });
  expect(warnings).toEqual([]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  await client.close();
});

test("100 producers, consumers and calls of receive with one signal warn of nothing", async () => {
  const { client, timer, topics } = await consumingClient();
  const controller = new AbortController();
  const { signal } = controller;
  const warnings = await warningsOf(async () => {
    await Promise.all(
      Array.from({ length: 100 }, () => client.createProducer({ topic: "orders" }, signal)),
    );
    const options = { topic: TOPIC, subscription: "s", type: "shared" } as const;
    const consumers = await Promise.all(
      Array.from({ length: 100 }, () => client.subscribe(options, signal)),
    );
    const receiving = consumers.map((consumer) => consumer.receive({ signal }));
    topics.publish(TOPIC, "a");
    await timer.advance(0);
    controller.abort("no");
    const results = await Promise.allSettled(receiving);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
  expect(warnings).toEqual([]);
  await client.close();
});
