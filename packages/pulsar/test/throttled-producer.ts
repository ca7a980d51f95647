import { expect } from "vitest";
import type { ClientOptions } from "../src/client/api/client-options.ts";
import type { Producer } from "../src/client/producer/producer.ts";
import type { ProducerOptions } from "../src/client/producer/producer-options.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { producerIdOf, throttle } from "./throttling-broker.ts";
import type { ThrottleNotice } from "./throttling-broker.ts";
import { connectTo } from "./virtual-client.ts";
import type { VirtualClient } from "./virtual-client.ts";

export const TOPIC = "persistent://public/default/orders";

let opened: VirtualClient[] = [];

/** For `afterEach`. Nothing may be left of any client: no sleep, no connection. */
export async function closeAll(): Promise<void> {
  const all = opened;
  opened = [];
  for (const { client, timer } of all) {
    const closing = client.close();
    await timer.advance(120_000);
    await closing;
    expect(timer.sleeping).toBe(0);
  }
}

export async function start(
  broker: ScriptedBroker,
  options: ClientOptions = {},
): Promise<VirtualClient> {
  const connected = await connectTo(broker, options);
  opened.push(connected);
  return connected;
}

/** A producer of `TOPIC` in virtual time, whose peer can tell it to pause. */
export async function produce(
  options: Partial<ProducerOptions> = {},
  broker: ScriptedBroker = new ScriptedBroker(),
) {
  const connected = await start(broker);
  const producer = await connected.client.createProducer({ topic: "orders", ...options });
  const { timer, events } = connected;
  /** Tells the producer of a topic to pause; resolves once it knows. */
  const pause = async (
    reason: ThrottleNotice["reason"],
    pauseMs: ThrottleNotice["pauseMs"],
    topic = TOPIC,
  ): Promise<void> => {
    throttle(broker.last, { producerId: producerIdOf(broker.last, topic), reason, pauseMs });
    await timer.advance(0);
  };
  /** The events about throttling: time, type, reason and length. */
  const changes = (): unknown[] =>
    events.flatMap((event): unknown[] => {
      const { type, atMs } = event;
      if (type === "throttled") return [[atMs, type, event.reason, event.pauseMs]];
      return type === "unthrottled" ? [[atMs, type, event.reason, event.throttledMs]] : [];
    });
  return { ...connected, broker, producer, pause, changes };
}

/** The outcome of a `send`: the id, the error, or "pending". */
export function outcomeOf(producer: Producer, data = ""): { value: unknown } {
  const outcome: { value: unknown } = { value: "pending" };
  producer.send({ data }).then(
    (id) => (outcome.value = String(id)),
    (error: unknown) => (outcome.value = error),
  );
  return outcome;
}
