import type { Reason } from "@sluice/core";
import type { StoreEvent } from "./store-event.ts";
import type { RateParts } from "./waiting.ts";

/**
 * What happened in a broker that an operator should know. The command line logs every one of them.
 * `topic` is the full name; partitions have events of their own.
 */
export type BrokerEvent =
  /** A connection was refused: too many of them, a bad token, no right to the topic. */
  | { readonly kind: "client-refused"; readonly address: string; readonly reason: string }
  /** The broker closed a connection. */
  | { readonly kind: "client-closed"; readonly address: string; readonly reason: string }
  /** Producers of a topic wait until it has room again. */
  | {
      readonly kind: "producers-blocked";
      readonly topic: string;
      readonly reason: "storage-full" | "backlog-quota";
    }
  | { readonly kind: "producers-unblocked"; readonly topic: string }
  /** A consumer gets nothing more until it acknowledges. */
  | {
      readonly kind: "consumer-blocked";
      readonly topic: string;
      readonly subscription: string;
      readonly consumer: string;
      readonly unackedMessages: number;
    }
  /** Bytes of a torn write, never acknowledged, were cut off the end of a log. */
  | { readonly kind: "tail-cut"; readonly topic: string; readonly bytes: number }
  /** A stored file is not what was written. Without a topic: the file of which topic is unknown. */
  | {
      readonly kind: "damaged";
      readonly topic: string | undefined;
      readonly error: Error;
    }
  /** Appends to a topic are refused for lack of space or descriptors, as the error says. */
  | { readonly kind: "storage-full"; readonly topic: string; readonly error: Error }
  /** Appends to a topic succeed again, or its damaged name was restored. */
  | { readonly kind: "healed"; readonly topic: string }
  /** A subscription does not continue where it was. */
  | {
      readonly kind: "cursor-reset";
      readonly topic: string;
      readonly subscription: string;
      /** Its file was damaged, or its position was after the end of the log. */
      readonly reason: "damaged" | "ahead-of-log";
      /** Where the subscription continues: the earliest entry that is kept, or the end of the log. */
      readonly position: { readonly ledgerId: number; readonly entryId: number };
    }
  /** A topic refuses all clients until it is opened again. */
  | { readonly kind: "topic-stopped"; readonly topic: string; readonly error: Error }
  /** The process-wide byte budget is exhausted: SENDs wait, control commands are served. */
  | { readonly kind: "memory-full"; readonly bytes: number; readonly bytesMax: number }
  | { readonly kind: "memory-free"; readonly bytes: number }
  /** A broker of the cluster behind a gateway is gone, or cannot be reached. */
  | { readonly kind: "upstream-lost"; readonly upstream: string; readonly reason: string }
  | { readonly kind: "upstream-back"; readonly upstream: string }
  /** A client asked a gateway to connect it to a broker that is not in the allow-list. */
  | {
      readonly kind: "target-refused";
      readonly address: string;
      readonly target: string;
      readonly reason: string;
    }
  /** A topic behind a gateway has moved to another cluster, which the gateway is not in front of. */
  | { readonly kind: "topic-migrated"; readonly topic: string; readonly url: string }
  /** Producers of a topic wait for a limit; told once, when they have waited for 100 ms. */
  | {
      readonly kind: "publish-throttled";
      readonly topic: string;
      readonly reason: Reason;
      /** "topic", "group analytics" or "broker". */
      readonly limiter: string;
      readonly limit: RateParts;
      /** Producers of the topic that wait. */
      readonly producers: number;
      readonly heldFrames: number;
      /** The producer that asks most, in messages per second. */
      readonly becauseOf?: { readonly producer: string; readonly asked: number };
      /** Messages per second that each producer gets. */
      readonly turn?: number;
    }
  /** No producer of the topic has waited for that limit for one second. */
  | {
      readonly kind: "publish-resumed";
      readonly topic: string;
      readonly reason: Reason;
      readonly limiter: string;
      readonly afterMs: number;
    }
  /** A client that knows the throttle commands was told to pause. */
  | {
      readonly kind: "producer-told";
      readonly topic: string;
      readonly reason: Reason;
      readonly producer: string;
      readonly pauseMs: number;
      readonly receiptAfterMs?: number;
    }
  /** A connection is not read, because of the frames of `topic`; its other topics wait with it. */
  | {
      readonly kind: "socket-paused";
      readonly address: string;
      readonly reason: Reason;
      readonly topic?: string;
    }
  | {
      readonly kind: "socket-resumed";
      readonly address: string;
      readonly reason: Reason;
      readonly topic?: string;
      readonly afterMs: number;
    }
  /** A publish limit was changed while the broker ran. Undefined: there is, or was, none. */
  | {
      readonly kind: "limit-changed";
      /** "topic public/default/orders", "group analytics", "broker". */
      readonly target: string;
      readonly from: RateParts | undefined;
      readonly to: RateParts | undefined;
      /** Through which interface. */
      readonly by: string;
    }
  | StoreEvent
  | PartEvent
  /** Something failed that should not have. */
  | { readonly kind: "error"; readonly error: unknown };

/** An event of another part of the process, such as a pipeline. It brings its own sentence. */
export interface PartEvent {
  readonly kind: `pipeline-${string}` | `vertex-${string}` | `flow-${string}`;
  readonly text: string;
  /** What the event is about, such as `orders/out`: events of one kind are limited for each subject. */
  readonly subject: string;
  readonly [fact: string]: unknown;
}

export type BrokerObserver = (event: BrokerEvent) => void;
