/** What a client under test is told and what it answers, the same for all clients. */
import type { FloodCommand, FloodOutcome } from "./flood.ts";

export type Compression = "lz4" | "zlib" | "zstd" | "snappy";

export interface ProduceCommand {
  readonly topic: string;
  readonly count: number;
  /** The index of the first message; 0 if nothing is said. */
  readonly start?: number;
  /** Bodies are padded to this size. */
  readonly sizeBytes: number;
  /** Messages take turns among so many keys; without it they have none. */
  readonly keys?: number;
  readonly batching: boolean;
  readonly compression?: Compression;
  readonly properties?: Readonly<Record<string, string>>;
  readonly token?: string;
  /** Whether the outcome names the id of each message. */
  readonly list?: boolean;
}

export interface ProduceOutcome {
  readonly sent: number;
  /** `ledger:entry:partition:batchIndex`, in the order of the messages; empty unless asked for. */
  readonly messageIds: readonly string[];
  /** From the first message handed to the client, all being made, until the last receipt. */
  readonly ms: number;
}

export interface ConsumeCommand {
  /** One of `topic`, `topics` and `pattern`. */
  readonly topic?: string;
  readonly topics?: readonly string[];
  readonly pattern?: string;
  readonly subscription: string;
  readonly type: "exclusive" | "shared" | "failover";
  /** Ends when so many messages were accepted, or at the time-out with fewer. */
  readonly count: number;
  readonly timeoutMs: number;
  /** `cumulative` is one ack of the last message, at the end. */
  readonly ack: "individual" | "cumulative" | "none";
  /** Gives every n-th message back when it comes for the first time. */
  readonly nackEvery?: number;
  readonly initialPosition?: "earliest" | "latest";
  /** How many messages the client asks for ahead. */
  readonly queue?: number;
  /** Ends the process without a word to the broker. */
  readonly abort?: boolean;
  readonly token?: string;
  /** Whether the outcome has the messages themselves. */
  readonly list?: boolean;
}

export interface ConsumeOutcome {
  readonly received: number;
  readonly distinct: number;
  /** SHA-256 over the bodies in the order of their index, each once. */
  readonly digest: string;
  /** Messages that came after a later one of their key; duplicates are not looked at. */
  readonly perKeyOrderBroken: number;
  readonly duplicates: number;
  /** Messages whose redelivery count was not 0. */
  readonly redelivered: number;
  readonly ms: number;
  /** In the order of arrival; empty unless asked for. */
  readonly messages: readonly SeenMessage[];
}

export interface SeenMessage {
  /** In base64. */
  readonly body: string;
  readonly key: string | null;
  readonly properties: Readonly<Record<string, string>>;
  readonly messageId: string;
  readonly redeliveryCount: number;
}

/** A command being carried out. */
export interface Run<Outcome> {
  /** The producer is made, or the consumer subscribed. */
  readonly ready: Promise<unknown>;
  readonly outcome: Promise<Outcome>;
}

/** What not every client can do. */
export type Ability =
  | "earliest"
  | "ids"
  | "keys"
  | "partitions"
  | "patterns"
  | "reconnection"
  | "tls"
  | Compression;

export interface Driver {
  readonly name: string;
  /** Why it cannot, for what it cannot do. */
  readonly lacks: Partial<Record<Ability, string>>;
  /** Why the client is not here, if it is not. */
  readonly missing: string | undefined;
  produce(serviceUrl: string, command: ProduceCommand): Run<ProduceOutcome>;
  consume(serviceUrl: string, command: ConsumeCommand): Run<ConsumeOutcome>;
  flood(serviceUrl: string, command: FloodCommand): Run<FloodOutcome>;
}
