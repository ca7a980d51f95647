import type { Command, CommandBodies, MessageIdData } from "@sluice/pulsar/wire";
import type { Question } from "./request/question.ts";

/**
 * What a session wants done, in this order. Effects are plain values: producers and consumers are
 * named by keys, numbers that one session never uses twice. (A client may use an id again while
 * results of the former producer are still on their way.)
 */
export type Effect =
  /** The entry, if any, follows the command in its frame, and is not copied. */
  | { readonly kind: "send"; readonly command: Command; readonly entry?: Buffer }
  /** After what was sent before. Nothing is wanted after it. */
  | { readonly kind: "close"; readonly reason: string }
  /** `Session.isReading` has changed. */
  | { readonly kind: "readingChanged" }
  /** While the client does not read what it is sent, nothing is to be delivered. */
  | { readonly kind: "pauseDelivery" }
  | { readonly kind: "resumeDelivery" }
  | { readonly kind: "setFrameBytesMax"; readonly bytes: number }
  | { readonly kind: "authenticate"; readonly credentials: Uint8Array }
  /** For the observer: the client has no right to what it asked for. */
  | { readonly kind: "refused"; readonly reason: string }
  | {
      readonly kind: "openProducer";
      readonly producer: number;
      readonly request: CommandBodies["producer"];
    }
  | {
      readonly kind: "publish";
      readonly producer: number;
      /** Counts the SENDs of this producer; the result names it. */
      readonly sequence: number;
      readonly messageCount: number;
      readonly entry: Buffer;
    }
  /** SENDs of this producer that are not being stored yet must not be: the client sends them again. */
  | { readonly kind: "dropHeld"; readonly producer: number }
  | { readonly kind: "closeProducer"; readonly producer: number }
  /** The client knows the throttle commands. Comes before any producer is opened. */
  | { readonly kind: "throttleAware" }
  | { readonly kind: "throttleReceipt"; readonly requestId: bigint }
  | {
      readonly kind: "subscribe";
      readonly consumer: number;
      readonly request: CommandBodies["subscribe"];
    }
  | { readonly kind: "flow"; readonly consumer: number; readonly messages: number }
  | {
      readonly kind: "ack";
      readonly consumer: number;
      readonly consumerId: bigint;
      /** Present if the client wants an answer. */
      readonly requestId: bigint | undefined;
      readonly isCumulative: boolean;
      readonly messageIds: readonly MessageIdData[];
    }
  | {
      readonly kind: "redeliver";
      readonly consumer: number;
      /** Empty: all that the consumer has. */
      readonly messageIds: readonly MessageIdData[];
    }
  | { readonly kind: "closeConsumer"; readonly consumer: number }
  | { readonly kind: "ask"; readonly question: Question };

/** Gathers the effects of one event. After the end of a connection only closing has an effect. */
export class Outbox {
  #effects: Effect[] | undefined;
  #isClosed = false;

  /** The connection has ended, or is to end. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(effect: Effect): void {
    if (this.#isClosed && effect.kind !== "closeProducer" && effect.kind !== "closeConsumer")
      return;
    // A list of one is as large as that; one that grows from nothing has room for 17.
    if (this.#effects === undefined) this.#effects = [effect];
    else this.#effects.push(effect);
    if (effect.kind === "close") this.#isClosed = true;
  }

  send(command: Command): void {
    this.add({ kind: "send", command });
  }

  close(reason: string): void {
    this.add({ kind: "close", reason });
  }

  seal(): void {
    this.#isClosed = true;
  }

  take(): readonly Effect[] {
    const effects = this.#effects ?? NONE;
    this.#effects = undefined;
    return effects;
  }
}

const NONE: readonly Effect[] = [];
