import type { Reason } from "@sluice/core";
import type { Frame, MessageIdData } from "@sluice/pulsar/wire";
import type { Refusal } from "../refusal/refusal.ts";
import type { Answer, Question } from "./request/question.ts";

/** One entry for one consumer. */
export interface MessageToDeliver {
  readonly messageId: MessageIdData;
  readonly redeliveryCount: number;
  /** Which messages of a batch are not acknowledged; all of them if absent. */
  readonly ackSet: readonly bigint[] | undefined;
  readonly entry: Buffer;
}

/** What a connection tells its backend. */
export type ConnectionEvent =
  /** Only while `isReading` is true. */
  | { readonly kind: "frame"; readonly frame: Frame }
  /** All whole frames were handed over; the start of another may have arrived. */
  | { readonly kind: "drained"; readonly isWithinFrame: boolean }
  /** The socket is not read because a frame waits for memory, or is no more. */
  | { readonly kind: "stalled"; readonly isStalled: boolean }
  /** The client has taken some bytes; `unreadBytes` are left. */
  | { readonly kind: "taken"; readonly unreadBytes: number }
  /** The broker is about to close: nothing more is read, what was read is still answered. */
  | { readonly kind: "stopReading" };

/** Results of what a session wanted done. `producer` and `consumer` are keys of its effects. */
export type ResultEvent =
  /** Answers of this size were written; the client has not taken `unreadBytes` in all. */
  | { readonly kind: "written"; readonly answerBytes: number; readonly unreadBytes: number }
  | {
      readonly kind: "authenticated";
      readonly role: string;
      /** After that the client must prove it again; undefined if never. */
      readonly expiresInMs: number | undefined;
    }
  | { readonly kind: "authenticationFailed"; readonly message: string }
  /** The connection is not to be read because of what it publishes, or no more for this reason. */
  | { readonly kind: "throttled"; readonly reason: Reason }
  | { readonly kind: "unthrottled"; readonly reason: Reason }
  | {
      readonly kind: "producerOpened";
      readonly producer: number;
      readonly name: string;
      /** False while the producer waits for exclusive access. */
      readonly isReady: boolean;
      readonly topicEpoch: bigint | undefined;
      /** Of a producer of the same name; -1 if none is known. */
      readonly lastSequenceId: bigint;
      readonly schemaVersion: Uint8Array | undefined;
    }
  /** A producer that waited has exclusive access now. */
  | { readonly kind: "producerReady"; readonly producer: number; readonly topicEpoch: bigint }
  | { readonly kind: "producerFailed"; readonly producer: number; readonly refusal: Refusal }
  /** The broker has closed a producer. */
  | { readonly kind: "producerClosed"; readonly producer: number }
  | {
      readonly kind: "published";
      readonly producer: number;
      readonly sequence: number;
      readonly messageId: MessageIdData;
    }
  | {
      readonly kind: "publishFailed";
      readonly producer: number;
      readonly sequence: number;
      readonly refusal: Refusal;
    }
  | {
      readonly kind: "subscribed";
      readonly consumer: number;
      /** Only for failover: whether messages come to this consumer. */
      readonly isActive: boolean | undefined;
    }
  | { readonly kind: "subscribeFailed"; readonly consumer: number; readonly refusal: Refusal }
  | {
      readonly kind: "delivered";
      readonly consumer: number;
      readonly messages: readonly MessageToDeliver[];
    }
  | { readonly kind: "activeChanged"; readonly consumer: number; readonly isActive: boolean }
  /** The topic is terminated and all its messages are acknowledged. */
  | { readonly kind: "reachedEnd"; readonly consumer: number }
  /** The broker has closed a consumer. */
  | { readonly kind: "consumerClosed"; readonly consumer: number }
  /** Another client was refused, because a producer or consumer of this one is exclusive. */
  | { readonly kind: "contested" }
  | {
      readonly kind: "acknowledged";
      readonly consumerId: bigint;
      readonly requestId: bigint | undefined;
      readonly refusal?: Refusal | undefined;
    }
  | { readonly kind: "answered"; readonly question: Question; readonly answer: Answer }
  | { readonly kind: "refused"; readonly question: Question; readonly refusal: Refusal };

/** Everything that can happen to a session. Plain values, so that a session can be replayed. */
export type SessionEvent =
  | ConnectionEvent
  | ResultEvent
  /** The time that `Session.dueAtMs` named has come. */
  | { readonly kind: "tick" }
  /** The connection is gone, or is to go. */
  | { readonly kind: "end" };
