import { FrameDecoder } from "../src/wire/frame-decoder.ts";
import { decodeFrame, encodeFrame, encodeFrameHead } from "../src/wire/frame.ts";
import type { Command, CommandKind, CommandOf } from "../src/wire/command.ts";
import {
  ACCESS_MODE,
  LOOKUP_RESULT,
  NO_ID,
  PARTITIONED_METADATA_RESULT,
} from "../src/wire/constants.ts";
import type { Dial, Endpoint } from "../src/client/connection/transport.ts";
import { ConnectionError } from "../src/client/error/connection-error.ts";
import { addressName } from "../src/client/connection/connection-target.ts";
import { MemoryLink } from "./memory-link.ts";
import type { MemoryLinkOptions } from "./memory-link.ts";

/** The answer of a script to a command; undefined for none. */
type Reaction<Kind extends CommandKind> = (
  command: CommandOf<Kind>,
  session: PeerSession,
  entry: Buffer,
) => Command | undefined;

/** Reactions by kind of command; other commands are ignored. */
export type Script = { [Kind in CommandKind]?: Reaction<Kind> };

/** One connection, as the peer sees it. */
export class PeerSession {
  readonly endpoint: Endpoint;
  readonly link: MemoryLink;
  /** All commands that came, in order. */
  readonly heard: Command[] = [];
  /** Topics of the producers that were opened on this connection. */
  readonly producers = new Map<bigint, string>();
  readonly #decoder = new FrameDecoder();

  constructor(endpoint: Endpoint, options: MemoryLinkOptions, script: () => Script) {
    this.endpoint = endpoint;
    this.link = new MemoryLink(options);
    this.link.onBytes = (bytes) => {
      this.#decoder.push(bytes);
      for (;;) {
        const frameBytes = this.#decoder.next();
        if (frameBytes === undefined || this.link.isClosed) return;
        const { command, entry } = decodeFrame(frameBytes);
        this.heard.push(command);
        const answer = react(script(), command, this, entry);
        if (answer !== undefined) this.tell(answer);
      }
    };
  }

  tell(command: Command, entry: Buffer = Buffer.alloc(0)): void {
    if (entry.length === 0) this.link.deliver(encodeFrame(command));
    else this.link.deliver(Buffer.concat([encodeFrameHead(command, entry.length), entry]));
  }

  cut(cause?: Error): void {
    this.link.cut(cause);
  }

  heardKinds(): string[] {
    return this.heard.map(({ kind }) => kind);
  }

  countOf(kind: CommandKind): number {
    return this.heard.filter((command) => command.kind === kind).length;
  }
}

export interface Stored {
  readonly topic: string;
  readonly sequenceId: bigint;
  readonly highestSequenceId: bigint;
  readonly messages: number;
  readonly entry: Buffer;
}

/**
 * A peer that answers as a broker would, unless a test's script says otherwise. It stores what is
 * sent to it and never forgets.
 */
export class ScriptedBroker {
  readonly sessions: PeerSession[] = [];
  readonly stored: Stored[] = [];
  readonly partitions = new Map<string, number>();
  /** Addresses that refuse connections. */
  readonly unreachable = new Set<string>();
  readonly script: Script;
  readonly #linkOptions: MemoryLinkOptions;
  #nextName = 0;

  constructor(script: Script = {}, linkOptions: MemoryLinkOptions = {}) {
    this.script = { ...this.#defaults(), ...script };
    this.#linkOptions = linkOptions;
  }

  readonly dial: Dial = async (endpoint, signal) => {
    await Promise.resolve();
    signal.throwIfAborted();
    if (this.unreachable.has(addressName(endpoint))) throw new ConnectionError("nobody is there");
    const session = new PeerSession(endpoint, this.#linkOptions, () => this.script);
    this.sessions.push(session);
    return session.link;
  };

  /** Those that are open. */
  get open(): readonly PeerSession[] {
    return this.sessions.filter(({ link }) => !link.isClosed);
  }

  get last(): PeerSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error("nobody has connected");
    return session;
  }

  /** Stores an entry and makes its receipt. */
  store(command: CommandOf<"send">, session: PeerSession, entry: Buffer): CommandOf<"sendReceipt"> {
    const {
      producerId,
      sequenceId,
      highestSequenceId = sequenceId,
      numMessages = 1,
    } = command.body;
    this.stored.push({
      topic: session.producers.get(producerId) ?? "",
      sequenceId,
      highestSequenceId,
      messages: numMessages,
      entry: Buffer.from(entry),
    });
    const messageId = { ledgerId: 7n, entryId: BigInt(this.stored.length - 1) };
    // Of a message in no batch Apache's broker says -1.
    const highest = command.body.highestSequenceId ?? NO_ID;
    return {
      kind: "sendReceipt",
      body: { producerId, sequenceId, highestSequenceId: highest, messageId },
    };
  }

  #defaults(): Script {
    return {
      connect: () => ({
        kind: "connected",
        body: { serverVersion: "scripted", protocolVersion: 21, maxMessageSize: 5_242_880 },
      }),
      ping: () => ({ kind: "pong", body: {} }),
      partitionedMetadata: ({ body: { requestId, topic } }) => ({
        kind: "partitionedMetadataResponse",
        body: {
          requestId,
          partitions: this.partitions.get(topic) ?? 0,
          response: PARTITIONED_METADATA_RESULT.success,
        },
      }),
      lookup: ({ body: { requestId } }, { endpoint }) => ({
        kind: "lookupResponse",
        body: {
          requestId,
          brokerServiceUrl: `pulsar://${addressName(endpoint)}`,
          brokerServiceUrlTls: `pulsar+ssl://${addressName(endpoint)}`,
          response: LOOKUP_RESULT.connect,
          authoritative: true,
        },
      }),
      producer: ({ body }, session) => {
        session.producers.set(body.producerId, body.topic);
        return {
          kind: "producerSuccess",
          body: {
            requestId: body.requestId,
            producerName: body.producerName ?? `scripted-${this.#nextName++}`,
            lastSequenceId: -1n,
            producerReady: true,
            topicEpoch: body.producerAccessMode === ACCESS_MODE.shared ? undefined : 1n,
          },
        };
      },
      send: (command, session, entry) => this.store(command, session, entry),
      closeProducer: ({ body }) => ({ kind: "success", body: { requestId: body.requestId } }),
      closeConsumer: ({ body }) => ({ kind: "success", body: { requestId: body.requestId } }),
    };
  }
}

function react(
  script: Script,
  command: Command,
  session: PeerSession,
  entry: Buffer,
): Command | undefined {
  if (command.kind === "unknown") return undefined;
  return reactTo(script, command, session, entry);
}

function reactTo<Kind extends CommandKind>(
  script: Script,
  command: CommandOf<Kind>,
  session: PeerSession,
  entry: Buffer,
): Command | undefined {
  const reaction: Reaction<Kind> | undefined = script[command.kind];
  return reaction?.(command, session, entry);
}
