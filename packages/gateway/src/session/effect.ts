import type { Command, CommandBodies, MessageIdData, Schema } from "@sluice/pulsar/wire";
import type { SessionConsumer } from "./consumer.ts";
import type { PendingSend, SessionProducer } from "./producer.ts";

/**
 * What a session wants done. Whoever drives it does so in this order and reports what came of it;
 * a session itself touches no socket, no timer and no topic.
 */
export type Effect =
  /** The entry, if any, follows the command in its frame, and is not copied. */
  | { readonly kind: "send"; readonly command: Command; readonly entry?: Buffer }
  /** After what was sent before. Nothing is wanted after it. */
  | { readonly kind: "close"; readonly reason: string }
  | { readonly kind: "pauseReading" }
  /** Once all that is wanted with it is done. */
  | { readonly kind: "resumeReading" }
  /** Whether the client reads what it is sent; while it does not, nothing is to be delivered. */
  | { readonly kind: "pauseDelivery" }
  | { readonly kind: "resumeDelivery" }
  | { readonly kind: "setFrameBytesMax"; readonly bytes: number }
  | { readonly kind: "authenticate"; readonly credentials: Uint8Array }
  | {
      readonly kind: "openProducer";
      readonly producer: SessionProducer;
      readonly request: CommandBodies["producer"];
    }
  | { readonly kind: "publish"; readonly send: PendingSend; readonly entry: Buffer }
  | { readonly kind: "closeProducer"; readonly producer: SessionProducer }
  | {
      readonly kind: "subscribe";
      readonly consumer: SessionConsumer;
      readonly request: CommandBodies["subscribe"];
    }
  | { readonly kind: "flow"; readonly consumer: SessionConsumer; readonly messages: number }
  | {
      readonly kind: "ack";
      readonly consumer: SessionConsumer;
      readonly request: CommandBodies["ack"];
    }
  | {
      readonly kind: "redeliver";
      readonly consumer: SessionConsumer;
      /** Nothing means all that the consumer has. */
      readonly messageIds: readonly MessageIdData[];
    }
  | { readonly kind: "closeConsumer"; readonly consumer: SessionConsumer }
  | { readonly kind: "ask"; readonly question: Question };

/** A request that the broker answers, once. */
export type Question =
  | {
      readonly about: "partitions";
      readonly requestId: bigint;
      readonly topic: string;
      /** The client does not want to hear of topics that are not there. */
      readonly mustExist: boolean;
    }
  | {
      readonly about: "topics";
      readonly requestId: bigint;
      readonly namespace: string;
      readonly mode: number;
    }
  | {
      readonly about: "lastMessageId";
      readonly requestId: bigint;
      readonly consumer: SessionConsumer;
    }
  | {
      readonly about: "seek";
      readonly requestId: bigint;
      readonly consumer: SessionConsumer;
      readonly target: SeekTarget;
    }
  | {
      readonly about: "unsubscribe";
      readonly requestId: bigint;
      readonly consumer: SessionConsumer;
    }
  | {
      readonly about: "schema";
      readonly requestId: bigint;
      readonly topic: string;
      /** The newest, if absent. */
      readonly version: Uint8Array | undefined;
    }
  | {
      readonly about: "newSchema";
      readonly requestId: bigint;
      readonly topic: string;
      readonly schema: Schema;
    };

export type SeekTarget =
  | { readonly messageId: MessageIdData }
  /** Milliseconds of the wall clock. */
  | { readonly publishedAtMs: number };

/** What the broker says to a question. */
export type Answer =
  | { readonly about: "partitions"; readonly count: number }
  | { readonly about: "topics"; readonly names: readonly string[] }
  | {
      readonly about: "lastMessageId";
      readonly last: MessageIdData;
      /** All up to this one are acknowledged. */
      readonly markDelete: MessageIdData;
    }
  | { readonly about: "seek" | "unsubscribe" }
  | { readonly about: "schema"; readonly schema: Schema; readonly version: Uint8Array }
  | { readonly about: "newSchema"; readonly version: Uint8Array };

/** Gathers what a step of a session wants done; after the end of a connection hardly anything. */
export class Outbox {
  #effects: Effect[] = [];
  #isClosed = false;

  /** The connection has ended, or is to end. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(effect: Effect): void {
    if (this.#isClosed && effect.kind !== "closeProducer" && effect.kind !== "closeConsumer")
      return;
    this.#effects.push(effect);
    if (effect.kind === "close") this.#isClosed = true;
  }

  send(command: Command): void {
    this.add({ kind: "send", command });
  }

  seal(): void {
    this.#isClosed = true;
  }

  take(): readonly Effect[] {
    if (this.#effects.length === 0) return NONE;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

const NONE: readonly Effect[] = [];
