import * as answer from "./definition/answer.ts";
import * as connect from "./definition/connect.ts";
import * as consumer from "./definition/consumer.ts";
import * as lookup from "./definition/lookup.ts";
import * as producer from "./definition/producer.ts";
import * as schema from "./definition/schema.ts";
import { InvariantError } from "@sluice/core";
import type { MessageType } from "./message.ts";
import { ProtocolError } from "./protocol-error.ts";
import { ProtoReader, WIRE_TYPE } from "./proto-reader.ts";
import type { ProtoWriter } from "./proto-writer.ts";

/** The body of each known command, by the name it has in this package. */
export interface CommandBodies {
  readonly connect: connect.CommandConnect;
  readonly connected: connect.CommandConnected;
  readonly subscribe: consumer.CommandSubscribe;
  readonly producer: producer.CommandProducer;
  readonly send: producer.CommandSend;
  readonly sendReceipt: producer.CommandSendReceipt;
  readonly sendError: producer.CommandSendError;
  readonly message: consumer.CommandMessage;
  readonly ack: consumer.CommandAck;
  readonly flow: consumer.CommandFlow;
  readonly unsubscribe: consumer.CommandUnsubscribe;
  readonly success: answer.CommandSuccess;
  readonly error: answer.CommandError;
  readonly closeProducer: producer.CommandCloseProducer;
  readonly closeConsumer: consumer.CommandCloseConsumer;
  readonly producerSuccess: producer.CommandProducerSuccess;
  readonly ping: connect.CommandPing;
  readonly pong: connect.CommandPong;
  readonly redeliverUnacknowledged: consumer.CommandRedeliverUnacknowledgedMessages;
  readonly partitionedMetadata: lookup.CommandPartitionedTopicMetadata;
  readonly partitionedMetadataResponse: lookup.CommandPartitionedTopicMetadataResponse;
  readonly lookup: lookup.CommandLookupTopic;
  readonly lookupResponse: lookup.CommandLookupTopicResponse;
  readonly consumerStats: consumer.CommandConsumerStats;
  readonly consumerStatsResponse: consumer.CommandConsumerStatsResponse;
  readonly reachedEndOfTopic: consumer.CommandReachedEndOfTopic;
  readonly seek: consumer.CommandSeek;
  readonly getLastMessageId: consumer.CommandGetLastMessageId;
  readonly getLastMessageIdResponse: consumer.CommandGetLastMessageIdResponse;
  readonly activeConsumerChange: consumer.CommandActiveConsumerChange;
  readonly getTopicsOfNamespace: lookup.CommandGetTopicsOfNamespace;
  readonly getTopicsOfNamespaceResponse: lookup.CommandGetTopicsOfNamespaceResponse;
  readonly getSchema: schema.CommandGetSchema;
  readonly getSchemaResponse: schema.CommandGetSchemaResponse;
  readonly authChallenge: connect.CommandAuthChallenge;
  readonly authResponse: connect.CommandAuthResponse;
  readonly ackResponse: consumer.CommandAckResponse;
  readonly getOrCreateSchema: schema.CommandGetOrCreateSchema;
  readonly getOrCreateSchemaResponse: schema.CommandGetOrCreateSchemaResponse;
  readonly topicMigrated: consumer.CommandTopicMigrated;
}

export type CommandKind = keyof CommandBodies;

/** A command of one of these kinds. */
export type CommandOf<Kind extends CommandKind> = CommandIn<CommandBodies, Kind>;

/** A command of a type that this package does not know. Its bytes are passed on unchanged. */
export interface UnknownCommand {
  readonly kind: "unknown";
  readonly type: number;
  readonly bytes: Uint8Array;
}

export type Command = CommandOf<CommandKind> | UnknownCommand;

/** A command of a table with these bodies. */
export type CommandIn<Bodies, Kind extends keyof Bodies = keyof Bodies> = {
  readonly [K in Kind]: { readonly kind: K; readonly body: Bodies[K] };
}[Kind];

export interface CommandDefinition<T> {
  /** Pulsar's number of the command in `BaseCommand.Type`; also the number of the field with its body. */
  readonly type: number;
  readonly body: MessageType<T>;
}

type CommandDefinitions<Bodies> = {
  readonly [K in keyof Bodies]: CommandDefinition<Bodies[K]>;
};

export const COMMANDS: CommandDefinitions<CommandBodies> = {
  connect: { type: 2, body: connect.CONNECT },
  connected: { type: 3, body: connect.CONNECTED },
  subscribe: { type: 4, body: consumer.SUBSCRIBE },
  producer: { type: 5, body: producer.PRODUCER },
  send: { type: 6, body: producer.SEND },
  sendReceipt: { type: 7, body: producer.SEND_RECEIPT },
  sendError: { type: 8, body: producer.SEND_ERROR },
  message: { type: 9, body: consumer.MESSAGE },
  ack: { type: 10, body: consumer.ACK },
  flow: { type: 11, body: consumer.FLOW },
  unsubscribe: { type: 12, body: consumer.UNSUBSCRIBE },
  success: { type: 13, body: answer.SUCCESS },
  error: { type: 14, body: answer.ERROR },
  closeProducer: { type: 15, body: producer.CLOSE_PRODUCER },
  closeConsumer: { type: 16, body: consumer.CLOSE_CONSUMER },
  producerSuccess: { type: 17, body: producer.PRODUCER_SUCCESS },
  ping: { type: 18, body: connect.PING },
  pong: { type: 19, body: connect.PONG },
  redeliverUnacknowledged: { type: 20, body: consumer.REDELIVER_UNACKNOWLEDGED },
  partitionedMetadata: { type: 21, body: lookup.PARTITIONED_METADATA },
  partitionedMetadataResponse: { type: 22, body: lookup.PARTITIONED_METADATA_RESPONSE },
  lookup: { type: 23, body: lookup.LOOKUP },
  lookupResponse: { type: 24, body: lookup.LOOKUP_RESPONSE },
  consumerStats: { type: 25, body: consumer.CONSUMER_STATS },
  consumerStatsResponse: { type: 26, body: consumer.CONSUMER_STATS_RESPONSE },
  reachedEndOfTopic: { type: 27, body: consumer.REACHED_END_OF_TOPIC },
  seek: { type: 28, body: consumer.SEEK },
  getLastMessageId: { type: 29, body: consumer.GET_LAST_MESSAGE_ID },
  getLastMessageIdResponse: { type: 30, body: consumer.GET_LAST_MESSAGE_ID_RESPONSE },
  activeConsumerChange: { type: 31, body: consumer.ACTIVE_CONSUMER_CHANGE },
  getTopicsOfNamespace: { type: 32, body: lookup.GET_TOPICS_OF_NAMESPACE },
  getTopicsOfNamespaceResponse: { type: 33, body: lookup.GET_TOPICS_OF_NAMESPACE_RESPONSE },
  getSchema: { type: 34, body: schema.GET_SCHEMA },
  getSchemaResponse: { type: 35, body: schema.GET_SCHEMA_RESPONSE },
  authChallenge: { type: 36, body: connect.AUTH_CHALLENGE },
  authResponse: { type: 37, body: connect.AUTH_RESPONSE },
  ackResponse: { type: 38, body: consumer.ACK_RESPONSE },
  getOrCreateSchema: { type: 39, body: schema.GET_OR_CREATE_SCHEMA },
  getOrCreateSchemaResponse: { type: 40, body: schema.GET_OR_CREATE_SCHEMA_RESPONSE },
  topicMigrated: { type: 68, body: consumer.TOPIC_MIGRATED },
};

/** The field with the command's type. Every other field holds a body. */
const TYPE_TAG = (1 << 3) | WIRE_TYPE.varint;

/** Pulsar's number of a command in `BaseCommand.Type`. */
export function typeOf(kind: CommandKind): number {
  return COMMANDS[kind].type;
}

/**
 * The commands that one side of a connection understands; others are decoded as `UnknownCommand`. A
 * connection that agreed on more commands in its handshake has a table of its own:
 * `new CommandTable<CommandBodies & More>({ ...COMMANDS, ...more })`.
 */
export class CommandTable<Bodies extends object> {
  readonly #definitions: CommandDefinitions<Bodies>;
  /** By type, with the kind beside the body: one lookup per decoded command. */
  readonly #byType: ReadonlyMap<number, KnownCommand<Bodies>>;

  constructor(definitions: CommandDefinitions<Bodies>) {
    const kinds = Object.keys(definitions) as (keyof Bodies & string)[];
    this.#definitions = definitions;
    this.#byType = new Map(
      kinds.map((kind) => [definitions[kind].type, { kind, body: definitions[kind].body }]),
    );
    if (this.#byType.size < kinds.length)
      throw new InvariantError("two commands of a table have the same type");
  }

  /** Reads the command between two offsets of a buffer. */
  decode(bytes: Buffer, start: number, end: number): CommandIn<Bodies> | UnknownCommand {
    const reader = new ProtoReader(bytes, start, end);
    let type: number | undefined;
    let body: ProtoReader | undefined;
    let bodyNumber = 0;
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      if (tag === TYPE_TAG) type = reader.int32();
      else if ((tag & 7) === WIRE_TYPE.bytes && (body === undefined || tag >>> 3 === type)) {
        body = reader.message();
        bodyNumber = tag >>> 3;
      } else reader.skip(tag);
    }
    if (type === undefined) throw new ProtocolError("a command has no type");
    const known = this.#byType.get(type);
    if (known === undefined) return { kind: "unknown", type, bytes: bytes.subarray(start, end) };
    if (body === undefined || bodyNumber !== type)
      throw new ProtocolError(`the command ${known.kind} has no body`);
    return decodeKnown(known, body);
  }

  encodeInto(writer: ProtoWriter, command: CommandIn<Bodies> | UnknownCommand): void {
    if (isUnknown(command)) {
      writer.raw(command.bytes);
      return;
    }
    this.#encodeKnown(writer, command);
  }

  #encodeKnown<Kind extends keyof Bodies>(
    writer: ProtoWriter,
    command: CommandIn<Bodies, Kind>,
  ): void {
    encodeCommand(writer, this.#definitions[command.kind], command.body);
  }
}

/** Writes a command whose definition is known to the caller, without a lookup. */
export function encodeCommand<T>(
  writer: ProtoWriter,
  { type, body }: CommandDefinition<T>,
  value: T,
): void {
  writeCommandHead(writer, type);
  body.write(writer, value);
}

/** Writes all that is before the length of a command's body. */
export function writeCommandHead(writer: ProtoWriter, type: number): void {
  writer.uint32(TYPE_TAG);
  writer.uint32(type);
  writer.uint32((type << 3) | WIRE_TYPE.bytes);
}

interface KnownCommand<Bodies, Kind extends keyof Bodies = keyof Bodies> {
  readonly kind: Kind & string;
  readonly body: { decodeFrom(reader: ProtoReader): Bodies[Kind] };
}

function decodeKnown<Bodies, Kind extends keyof Bodies>(
  { kind, body }: KnownCommand<Bodies, Kind>,
  reader: ProtoReader,
): CommandIn<Bodies, Kind> {
  return { kind, body: body.decodeFrom(reader) };
}

/** The commands of Pulsar's protocol that this package knows. */
export const PULSAR_COMMANDS: CommandTable<CommandBodies> = new CommandTable(COMMANDS);

function isUnknown(command: { readonly kind: PropertyKey }): command is UnknownCommand {
  return command.kind === "unknown";
}
