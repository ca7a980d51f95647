import type { CommandBodies, CommandKind, CommandOf } from "@sluice/pulsar/wire";
import type { Consumers } from "./consumers.ts";
import type { Outbox } from "./effect.ts";
import type { Handshake } from "./handshake.ts";
import type { Producers } from "./producers.ts";
import type { Requests } from "./requests.ts";

/** The parts of a session, each of which knows some commands. */
export interface SessionParts {
  readonly outbox: Outbox;
  readonly handshake: Handshake;
  readonly producers: Producers;
  readonly consumers: Consumers;
  readonly requests: Requests;
}

type Handlers = {
  readonly [Kind in CommandKind]?: (parts: SessionParts, body: CommandBodies[Kind]) => void;
};

/** What each command of a client does, but for SEND, which comes with an entry. */
const HANDLERS: Handlers = {
  connect: ({ handshake }, body) => handshake.connect(body),
  authResponse: ({ handshake }, body) => handshake.authResponse(body),
  ping: ({ outbox }) => outbox.send({ kind: "pong", body: {} }),
  pong: () => {},
  producer: ({ producers }, body) => producers.open(body),
  closeProducer: ({ producers }, body) => producers.close(body),
  subscribe: ({ consumers }, body) => consumers.subscribe(body),
  flow: ({ consumers }, body) => consumers.flow(body),
  ack: ({ consumers }, body) => consumers.ack(body),
  redeliverUnacknowledged: ({ consumers }, body) => consumers.redeliver(body),
  closeConsumer: ({ consumers }, body) => consumers.close(body),
  lookup: ({ requests }, body) => requests.lookup(body),
  partitionedMetadata: ({ requests }, body) => requests.partitions(body),
  getTopicsOfNamespace: ({ requests }, body) => requests.topics(body),
  getSchema: ({ requests }, body) => requests.schema(body),
  getOrCreateSchema: ({ requests }, body) => requests.newSchema(body),
  getLastMessageId: ({ requests }, body) => requests.lastMessageId(body),
  unsubscribe: ({ requests }, body) => requests.unsubscribe(body),
  seek: ({ requests }, body) => requests.seek(body),
  consumerStats: ({ requests }, body) => requests.consumerStats(body),
};

const BEFORE_CONNECTED: ReadonlySet<CommandKind> = new Set(["connect", "authResponse", "ping"]);

/** Of which there may be very many: permits, pending SENDs and what is unread bound them. */
const UNCOUNTED: ReadonlySet<CommandKind> = new Set(["ack", "flow", "pong"]);

/** Whether a client that was not let in yet may send it. */
export function isGreeting(kind: CommandKind): boolean {
  return BEFORE_CONNECTED.has(kind);
}

/** Whether a client may send only so many of them in a second. */
export function isPaced(kind: CommandKind): boolean {
  return !UNCOUNTED.has(kind);
}

/** False if no client has any business to send it. */
export function handle<Kind extends CommandKind>(
  parts: SessionParts,
  { kind, body }: CommandOf<Kind>,
): boolean {
  const handler: Handlers[Kind] = HANDLERS[kind];
  handler?.(parts, body);
  return handler !== undefined;
}
