/** A client that others wrote, from end to end. */
import { SignJWT } from "jose";
import { Consumer, Producer } from "pulsar-flex";
import type { FlexDelivery } from "pulsar-flex";
import { afterEach, expect, test } from "vitest";
import { startBroker } from "../src/index.ts";
import type { RunningBroker, StartBrokerOptions } from "../src/index.ts";

/** What a test has started, ended in reverse. */
const started: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

async function start(options: Partial<StartBrokerOptions> = {}): Promise<RunningBroker> {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory", ...options });
  started.push(() => broker.close());
  return broker;
}

function optionsFor({ port }: RunningBroker): ConstructorParameters<typeof Producer>[0] {
  return {
    topic: "persistent://public/default/flex",
    discoveryServers: [`127.0.0.1:${port}`],
    producerAccessMode: Producer.ACCESS_MODES.SHARED,
    logCreator: () => () => {},
  };
}

async function produce(broker: RunningBroker, jwt?: string): Promise<Producer> {
  const producer = new Producer({ ...optionsFor(broker), ...(jwt !== undefined && { jwt }) });
  await producer.create();
  started.push(() => producer.close());
  return producer;
}

/** It always begins at the end of a topic: the client has no way to ask for anything else. */
async function subscribe(broker: RunningBroker, jwt?: string): Promise<Consumer> {
  const consumer = new Consumer({
    ...optionsFor(broker),
    ...(jwt !== undefined && { jwt }),
    subscription: "s",
    subType: Consumer.SUB_TYPES.SHARED,
    consumerName: "c",
  });
  await consumer.subscribe();
  return consumer;
}

/** Hands what comes to `onMessage` until that says that it has seen enough; then it closes. */
async function consume(
  consumer: Consumer,
  onMessage: (delivery: FlexDelivery) => Promise<boolean>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        autoAck: false,
        onMessage: async (delivery) => {
          if (await onMessage(delivery)) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.unsubscribe();
}

const message = (payload: string) => ({ payload, properties: { of: payload } });

test("messages that were sent one by one and in batches are consumed in order", async () => {
  const broker = await start();
  const consumer = await subscribe(broker);
  const producer = await produce(broker);
  await producer.sendMessage(message("one"));
  await producer.sendBatch({ messages: [message("two"), message("three")] });
  await producer.sendMessage(message("four"));
  const consumed: string[] = [];
  await consume(consumer, async ({ ack, message: payload, properties }) => {
    await ack();
    expect(properties).toEqual({ of: payload.toString() });
    return consumed.push(payload.toString()) === 4;
  });
  expect(consumed).toEqual(["one", "two", "three", "four"]);
  expect(broker.stats().topics[0]?.subscriptions).toMatchObject([{ backlogEntries: 0 }]);
});

test("what was given back comes again, and says how often", async () => {
  const broker = await start();
  const consumer = await subscribe(broker);
  const producer = await produce(broker);
  await producer.sendMessage(message("again"));
  const counts: number[] = [];
  await consume(consumer, async ({ ack, redeliveryCount }) => {
    counts.push(redeliveryCount);
    await (redeliveryCount < 2 ? ack({ type: Consumer.ACK_TYPES.NEGATIVE }) : ack());
    return redeliveryCount === 2;
  });
  expect(counts).toEqual([0, 1, 2]);
});

test("what one consumer left comes to the next", async () => {
  const broker = await start();
  const consumer = await subscribe(broker);
  const producer = await produce(broker);
  await producer.sendMessage(message("left"));
  await consume(consumer, () => Promise.resolve(true));
  let left = "";
  await consume(await subscribe(broker), async ({ ack, message: payload }) => {
    left = payload.toString();
    await ack();
    return true;
  });
  expect(left).toBe("left");
});

test("a token lets its holder publish and consume", async () => {
  const secretKey = Buffer.alloc(32, "flex");
  const broker = await start({ token: { secretKey } });
  const token = new SignJWT({ sub: "flex" }).setProtectedHeader({ alg: "HS256" });
  const jwt = await token.setExpirationTime("1h").sign(secretKey);
  const consumer = await subscribe(broker, jwt);
  const producer = await produce(broker, jwt);
  await producer.sendMessage(message("secret"));
  await consume(consumer, async ({ ack }) => Boolean(await ack()));
});
