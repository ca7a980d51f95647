import type { VirtualTimer } from "@sluice/core/testing";
import type { Client } from "../src/client/api/client.ts";
import type { ConsumerOptions } from "../src/client/consumer/consumer-options.ts";
import type { Consumer } from "../src/client/consumer/consumer.ts";
import type { Message } from "../src/client/consumer/receive/message.ts";
import type { ClientEvent } from "../src/client/event/client-event.ts";
import type { Command, CommandBodies, CommandKind } from "../src/wire/command.ts";
import { ModelTopics } from "./model-topics.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import type { Script } from "./scripted-broker.ts";
import { connectTo } from "./virtual-client.ts";

export const TOPIC = "persistent://public/default/orders";

/** A client of a broker that keeps subscriptions, in virtual time. */
export interface ConsumingClient {
  readonly broker: ScriptedBroker;
  readonly topics: ModelTopics;
  readonly client: Client;
  readonly timer: VirtualTimer;
  readonly events: readonly ClientEvent[];
  readonly subscribe: (options?: Partial<ConsumerOptions>) => Promise<Consumer>;
  /** The commands of a kind that the broker has heard, on all connections. */
  readonly heard: <Kind extends CommandKind>(kind: Kind) => CommandBodies[Kind][];
}

export async function consumingClient(script: Script = {}): Promise<ConsumingClient> {
  const topics = new ModelTopics();
  const broker = new ScriptedBroker({ ...topics.script(), ...script });
  const { client, timer, events } = await connectTo(broker);
  return {
    broker,
    topics,
    client,
    timer,
    events,
    subscribe: (options = {}) => client.subscribe(withTopic(options)),
    heard: (kind) => broker.sessions.flatMap(({ heard }) => bodiesOf(heard, kind)),
  };
}

/** Receives all messages that are there already. */
export async function receiveAll(consumer: Consumer, timer: VirtualTimer): Promise<Message[]> {
  const received: Message[] = [];
  for (;;) {
    const waiting = new AbortController();
    const next = consumer.receive({ signal: waiting.signal }).then(
      (message) => received.push(message),
      () => undefined,
    );
    await timer.advance(0);
    waiting.abort();
    if ((await next) === undefined) return received;
  }
}

export const textOf = ({ data }: Message): string => data.toString();

function withTopic(options: Partial<ConsumerOptions>): ConsumerOptions {
  const hasTopics = options.topics !== undefined || options.topicsPattern !== undefined;
  return { ...(hasTopics ? {} : { topic: "orders" }), subscription: "shop", ...options };
}

function bodiesOf<Kind extends CommandKind>(
  commands: readonly Command[],
  kind: Kind,
): CommandBodies[Kind][] {
  // The kind of a command says which body it has.
  return commands.flatMap((command) =>
    command.kind === kind ? [command.body as CommandBodies[Kind]] : [],
  );
}
