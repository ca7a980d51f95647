import type { SluiceError } from "@sluice/core";
import type { Command, CommandOf, UnknownCommand } from "../../wire/command.ts";
import { NO_ID, PROTOCOL_VERSION } from "../../wire/constants.ts";
import type { CommandThrottleProducer } from "../../wire/definition/throttle.ts";
import { MESSAGE_BYTES_MAX } from "../../wire/frame.ts";
import type { Frame } from "../../wire/frame.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import type { ThrottleCodec } from "../../wire/throttle.ts";
import { brokerErrorOf } from "../error/broker-error.ts";
import { printable } from "../error/printable.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type { AttachmentRole } from "../event/client-event.ts";
import { refusedHandshake } from "./connection-errors.ts";
import { KeepAlive } from "./keep-alive.ts";
import { RequestTable } from "./request-table.ts";
import type { AnswerKind } from "./request-table.ts";

const CLIENT_VERSION = "Sluice-0.1.0";

/** `CommandTopicMigrated.ResourceType` of a producer; any other value is a consumer. */
const PRODUCER_RESOURCE = 0;

/** Unknown command types that are told per connection; a hostile peer could send 2^31 of them. */
const UNKNOWN_TYPES_MAX = 100;

export interface SessionOptions {
  readonly authMethodName: string;
  /** `host:port` of the broker behind the proxy that this connection goes to. */
  readonly proxyToBrokerUrl?: string | undefined;
  readonly operationTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly throttle?: ThrottleCodec | undefined;
}

/** What CONNECTED says about the broker. */
export interface Greeting {
  readonly serverVersion: string;
  readonly protocolVersion: number;
  readonly messageBytesMax: number;
}

/** What the connection has to do after a frame, or because time has passed. */
export type SessionEffect =
  | { readonly kind: "none" }
  | { readonly kind: "send"; readonly command: Command }
  /** Get fresh credentials and send AUTH_RESPONSE with them. */
  | { readonly kind: "authenticate"; readonly challenge: Uint8Array }
  | { readonly kind: "greet"; readonly greeting: Greeting }
  /** Hand the command to the producer or consumer with this id, if it still exists. */
  | { readonly kind: "deliver"; readonly role: AttachmentRole; readonly id: bigint }
  /** Send the receipt, and hand the command to its producer, if that still exists. */
  | {
      readonly kind: "throttle";
      readonly receipt: Command;
      readonly command: CommandThrottleProducer;
    }
  /** A command that this client does not know: ignored, and told once per type. */
  | { readonly kind: "unknown"; readonly commandType: number }
  | { readonly kind: "close"; readonly reason: SluiceError };

const NOTHING: SessionEffect = { kind: "none" };

/**
 * The client's protocol on one connection, without I/O: frames and time in, effects out. Answers
 * settle their request in `requests`; commands for a producer or consumer become a "deliver" effect.
 */
export class ConnectionSession {
  readonly requests: RequestTable;
  readonly #options: SessionOptions;
  readonly #keepAlive: KeepAlive;
  readonly #unknownTypes = new Set<number>();
  #isGreeted = false;

  constructor(options: SessionOptions, nowMs: number) {
    const { operationTimeoutMs, keepAliveMs } = options;
    this.#options = options;
    this.requests = new RequestTable(operationTimeoutMs);
    const silenceMaxMs = keepAliveMs * 2;
    this.#keepAlive = new KeepAlive({ intervalMs: keepAliveMs, silenceMaxMs }, nowMs);
  }

  /** When `onDue` must be called next. */
  get dueAtMs(): number {
    return Math.min(this.#keepAlive.dueAtMs, this.requests.dueAtMs ?? Infinity);
  }

  /** CONNECT, the first command on a connection. */
  connectCommand(authData: Uint8Array): CommandOf<"connect"> {
    const { authMethodName, proxyToBrokerUrl, throttle } = this.#options;
    const flags = { supportsAuthRefresh: true, supportsBrokerEntryMetadata: false };
    return {
      kind: "connect",
      body: {
        clientVersion: CLIENT_VERSION,
        protocolVersion: PROTOCOL_VERSION,
        authMethodName,
        authData,
        proxyToBrokerUrl,
        featureFlags: throttle?.announceIn(flags) ?? flags,
      },
    };
  }

  authResponse(authData: Uint8Array): CommandOf<"authResponse"> {
    return {
      kind: "authResponse",
      body: {
        clientVersion: CLIENT_VERSION,
        protocolVersion: PROTOCOL_VERSION,
        response: { authMethodName: this.#options.authMethodName, authData },
      },
    };
  }

  onFrame({ command }: Frame, nowMs: number): SessionEffect {
    this.#keepAlive.onHeard(nowMs);
    return this.#isGreeted ? this.#onCommand(command) : this.#onHandshake(command);
  }

  onDue(nowMs: number): SessionEffect {
    this.requests.expire(nowMs);
    const sign = this.#keepAlive.onDue(nowMs);
    if (sign === "wait") return NOTHING;
    if (sign === "ping") return { kind: "send", command: { kind: "ping", body: {} } };
    return closeWith(new ConnectionError("the broker has been silent and does not answer PING"));
  }

  #onHandshake(command: Command): SessionEffect {
    if (command.kind === "connected") return this.#greet(command);
    if (command.kind === "authChallenge") return authenticate(command);
    if (command.kind === "error") {
      const { error, message } = command.body;
      return closeWith(
        refusedHandshake(brokerErrorOf(error, message), this.#options.authMethodName),
      );
    }
    return closeWith(new ProtocolError(`the broker sent ${command.kind} before CONNECTED`));
  }

  #greet({ body }: CommandOf<"connected">): SessionEffect {
    const { protocolVersion = 0, maxMessageSize } = body;
    const serverVersion = printable(body.serverVersion);
    const messageBytesMax = maxMessageSize ?? MESSAGE_BYTES_MAX;
    if (messageBytesMax <= 0)
      return closeWith(new ProtocolError(`the broker's maxMessageSize is ${messageBytesMax}`));
    this.#isGreeted = true;
    return { kind: "greet", greeting: { serverVersion, protocolVersion, messageBytesMax } };
  }

  #onCommand(command: Command): SessionEffect {
    const delivery = deliveryOf(command);
    if (delivery !== undefined) return delivery;
    if (command.kind === "ping") return { kind: "send", command: { kind: "pong", body: {} } };
    if (command.kind === "authChallenge") return authenticate(command);
    if (command.kind === "error") return this.#onError(command);
    if (command.kind === "unknown") return this.#onUnknown(command);
    // The rest are commands from clients to brokers.
    if (isAnswer(command)) this.requests.onAnswer(command);
    return NOTHING;
  }

  /** Brokers of a newer protocol send such commands; Pulsar's clients ignore them. */
  #onUnknown(command: UnknownCommand): SessionEffect {
    const throttle = this.#onThrottle(command);
    if (throttle !== undefined) return throttle;
    const { type: commandType } = command;
    const known = this.#unknownTypes;
    if (known.has(commandType) || known.size >= UNKNOWN_TYPES_MAX) return NOTHING;
    known.add(commandType);
    return { kind: "unknown", commandType };
  }

  /**
   * Undefined for a command that is not PIP-385's. A broker is answered even if its CONNECTED did not
   * announce the commands: it sent one, so it knows the receipt.
   */
  #onThrottle(unknown: UnknownCommand): SessionEffect | undefined {
    const { throttle } = this.#options;
    const command = throttle?.decode(unknown);
    if (throttle === undefined || command === undefined) return undefined;
    // The receipt goes from clients to brokers.
    if (command.kind === "throttleProducerReceipt") return NOTHING;
    const { requestId } = command.body;
    const receipt = throttle.encode({ kind: "throttleProducerReceipt", body: { requestId } });
    return { kind: "throttle", receipt, command: command.body };
  }

  /** An ERROR without a request id is about the whole connection. */
  #onError({ body }: CommandOf<"error">): SessionEffect {
    const { requestId, error, message } = body;
    if (requestId === NO_ID) return closeWith(brokerErrorOf(error, message));
    this.requests.onError(requestId, error, message);
    return NOTHING;
  }
}

const ANSWERS: ReadonlySet<string> = new Set<AnswerKind>([
  "success",
  "producerSuccess",
  "partitionedMetadataResponse",
  "lookupResponse",
  "consumerStatsResponse",
  "getLastMessageIdResponse",
  "getTopicsOfNamespaceResponse",
  "getSchemaResponse",
  "getOrCreateSchemaResponse",
  "ackResponse",
]);

function isAnswer(command: Command): command is CommandOf<AnswerKind> {
  return ANSWERS.has(command.kind);
}

function authenticate({ body }: CommandOf<"authChallenge">): SessionEffect {
  return { kind: "authenticate", challenge: body.challenge?.authData ?? new Uint8Array() };
}

/** The effect for a command that names a producer or consumer. */
function deliveryOf(command: Command): SessionEffect | undefined {
  const { kind } = command;
  if (kind === "sendReceipt" || kind === "sendError" || kind === "closeProducer")
    return { kind: "deliver", role: "producer", id: command.body.producerId };
  if (kind === "message" || kind === "activeConsumerChange")
    return { kind: "deliver", role: "consumer", id: command.body.consumerId };
  if (kind === "reachedEndOfTopic" || kind === "closeConsumer")
    return { kind: "deliver", role: "consumer", id: command.body.consumerId };
  if (kind !== "topicMigrated") return undefined;
  const { resourceType, resourceId } = command.body;
  const role = resourceType === PRODUCER_RESOURCE ? "producer" : "consumer";
  return { kind: "deliver", role, id: resourceId };
}

function closeWith(reason: SluiceError): SessionEffect {
  return { kind: "close", reason };
}
