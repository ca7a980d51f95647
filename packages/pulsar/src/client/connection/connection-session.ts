import type { SluiceError } from "@sluice/core";
import type { Command, CommandOf } from "../../wire/command.ts";
import { NO_ID, PROTOCOL_VERSION } from "../../wire/constants.ts";
import { MESSAGE_BYTES_MAX } from "../../wire/frame.ts";
import type { Frame } from "../../wire/frame.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { brokerErrorOf, printable } from "../error/broker-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type { AttachmentRole } from "../api/event.ts";
import { unwelcome } from "../error/handshake-trouble.ts";
import { KeepAlive } from "./keep-alive.ts";
import { RequestTable } from "./request-table.ts";
import type { AnswerKind } from "./request-table.ts";

const CLIENT_VERSION = "Sluice-0.1.0";

/** What has moved with a topic; anything else is a consumer. */
const PRODUCER_RESOURCE = 0;

export interface SessionOptions {
  readonly authMethodName: string;
  /** `host:port` of the broker behind the proxy that this connection goes to. */
  readonly proxyToBrokerUrl?: string | undefined;
  readonly operationTimeoutMs: number;
  readonly keepAliveMs: number;
}

/** What the broker said of itself in the handshake. */
export interface Greeting {
  readonly serverVersion: string;
  readonly protocolVersion: number;
  readonly messageBytesMax: number;
}

/** What is to be done about a frame, or because time has passed. */
export type SessionEffect =
  | { readonly kind: "none" }
  | { readonly kind: "send"; readonly command: Command }
  /** Get fresh proof of who we are and send `authResponse` of it. */
  | { readonly kind: "authenticate" }
  | { readonly kind: "greet"; readonly greeting: Greeting }
  /** To the producer or consumer with this id; there may be none any more. */
  | { readonly kind: "deliver"; readonly role: AttachmentRole; readonly id: bigint }
  | { readonly kind: "close"; readonly reason: SluiceError };

const NOTHING: SessionEffect = { kind: "none" };

/**
 * The client's side of one connection, without the connection: frames and time in, effects out.
 * Answers go straight to whoever asked; what belongs to a producer or consumer is only addressed.
 */
export class ConnectionSession {
  readonly requests: RequestTable;
  readonly #options: SessionOptions;
  readonly #keepAlive: KeepAlive;
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

  /** The first command of all. */
  hello(authData: Uint8Array): CommandOf<"connect"> {
    const { authMethodName, proxyToBrokerUrl } = this.#options;
    return {
      kind: "connect",
      body: {
        clientVersion: CLIENT_VERSION,
        protocolVersion: PROTOCOL_VERSION,
        authMethodName,
        authData,
        proxyToBrokerUrl,
        featureFlags: { supportsAuthRefresh: true, supportsBrokerEntryMetadata: false },
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
    return closeWith(new ConnectionError("the broker is silent and does not answer a PING"));
  }

  #onHandshake(command: Command): SessionEffect {
    if (command.kind === "connected") return this.#greet(command);
    if (command.kind === "authChallenge") return { kind: "authenticate" };
    if (command.kind === "error") {
      const { error, message } = command.body;
      return closeWith(unwelcome(brokerErrorOf(error, message), this.#options.authMethodName));
    }
    return closeWith(new ProtocolError(`${command.kind} came before the handshake was done`));
  }

  #greet({ body }: CommandOf<"connected">): SessionEffect {
    const { protocolVersion = 0, maxMessageSize } = body;
    const serverVersion = printable(body.serverVersion);
    const messageBytesMax = maxMessageSize ?? MESSAGE_BYTES_MAX;
    if (messageBytesMax <= 0)
      return closeWith(new ProtocolError(`the largest message is of ${messageBytesMax} bytes`));
    this.#isGreeted = true;
    return { kind: "greet", greeting: { serverVersion, protocolVersion, messageBytesMax } };
  }

  #onCommand(command: Command): SessionEffect {
    const delivery = deliveryOf(command);
    if (delivery !== undefined) return delivery;
    if (command.kind === "ping") return { kind: "send", command: { kind: "pong", body: {} } };
    if (command.kind === "authChallenge") return { kind: "authenticate" };
    if (command.kind === "error") return this.#onError(command);
    if (isAnswer(command)) this.requests.onAnswer(command);
    // Whatever else comes is of a newer protocol, or not for clients.
    return NOTHING;
  }

  /** An error that answers no request is about the connection. */
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

/** Whom a command is for, if it is for a producer or a consumer. */
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
