import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import type { Client, ClientOptions } from "@sluice/pulsar";
import { startBroker, startGateway } from "../src/index.ts";
import type {
  BrokerEvent,
  GatewayWorld,
  RunningBroker,
  RunningGateway,
  StartBrokerOptions,
  StartGatewayOptions,
} from "../src/index.ts";
import { systemWorld } from "../src/start-broker.ts";
import { resolveBySystem } from "../src/upstream/dialer.ts";
import { RawClient } from "./raw-client.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import type { ScriptedBrokerOptions } from "./scripted-broker.ts";

const started: (() => Promise<unknown> | void)[] = [];

/** To be called after each test. */
export async function endScene(): Promise<void> {
  for (const stop of started.splice(0).toReversed()) await stop();
}

export async function startUpstream(
  options: Partial<StartBrokerOptions> = {},
): Promise<RunningBroker> {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory", ...options });
  started.push(() => broker.close());
  return broker;
}

export async function startScripted(options: ScriptedBrokerOptions = {}): Promise<ScriptedBroker> {
  const broker = await ScriptedBroker.start(options);
  started.push(() => broker.close());
  return broker;
}

export interface Front {
  readonly gateway: RunningGateway;
  readonly events: BrokerEvent[];
}

export async function startFront(
  upstream: StartGatewayOptions["upstream"],
  options: Partial<StartGatewayOptions> = {},
  world: Partial<GatewayWorld> = {},
): Promise<Front> {
  const events: BrokerEvent[] = [];
  const gateway = await startGateway(
    {
      listen: "pulsar://127.0.0.1:0",
      upstream,
      drainMs: 500,
      observe: (event) => events.push(event),
      ...options,
    },
    { ...systemWorld(), resolve: resolveBySystem, ...world },
  );
  started.push(() => gateway.close());
  return { gateway, events };
}

export async function clientOf(url: string, options: ClientOptions = {}): Promise<Client> {
  const client = await connect(url, options);
  started.push(() => client.close());
  return client;
}

/** A raw client of a gateway, not greeted yet. */
export async function rawClientOf({ gateway }: Front): Promise<RawClient> {
  const client = await RawClient.open(gateway.port);
  started.push(() => client.close());
  return client;
}

/** A client that was let in, and the broker's side of it. */
export async function pairOf(
  front: Front,
  broker: ScriptedBroker,
): Promise<[RawClient, RawClient]> {
  const client = await rawClientOf(front);
  client.send("connect", { clientVersion: "raw", protocolVersion: 21 });
  const peer = await broker.connected();
  await client.next("connected");
  return [client, peer];
}

/** Sends some messages and receives them, by one client. */
export async function roundTrip(client: Client, topic = "public/default/t"): Promise<string[]> {
  const consumer = await client.subscribe({
    topic,
    subscription: "s",
    initialPosition: "earliest",
  });
  const producer = await client.createProducer({ topic });
  const texts = ["a", "b", "c"];
  await Promise.all(texts.map((text) => producer.send({ data: Buffer.from(text) })));
  const received: string[] = [];
  for (const _ of texts) {
    const message = await consumer.receive();
    received.push(Buffer.from(message.data).toString());
    await consumer.ack(message);
  }
  await producer.close();
  await consumer.close();
  return received;
}

/** Why a client is not connected to the broker that it names. */
export async function ask(front: Front, proxyToBrokerUrl: string | undefined): Promise<string> {
  const client = await rawClientOf(front);
  client.send("connect", { clientVersion: "raw", proxyToBrokerUrl });
  const [error] = await client.ended();
  return (error as { body: { message: string } }).body.message;
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await systemTimer.sleep(5);
}
