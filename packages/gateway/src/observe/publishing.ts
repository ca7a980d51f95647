import type { Reason } from "@sluice/core";
import type { RateParts } from "./waiting.ts";

/** A limit that a producer's messages are charged at. */
interface PublishingLevel {
  /** "topic", "group analytics" or "broker". */
  readonly name: string;
  readonly reason: Reason;
  readonly limit: RateParts;
}

/**
 * A producer that is open, as the dashboard reads it twice a second. It is the object that the ingress itself
 * works with, not a copy: read it in one turn, and keep only figures of it.
 */
export interface PublishingFlow {
  readonly facts: {
    /** The full name, with "-partition-N" if it is a partition. */
    readonly topic: string;
    readonly producer: string;
    /** The client, as "host:port". */
    readonly address: string;
    /** As the client calls itself; undefined if it does not, or behind a gateway in front of a cluster. */
    readonly client?: string | undefined;
  };
  /** The topic without "-partition-N", and the limits that it is charged at. */
  readonly limits: {
    readonly topic: { readonly key: string };
    levelsAt(nowMs: number): readonly PublishingLevel[];
  };
  readonly isAware: boolean;
  /** The limit that it waits for; undefined while nothing of it is held. */
  readonly level: PublishingLevel | undefined;
  /** What it has sent since it opened; what of it has gone is this without what is held. */
  readonly offeredMessages: number;
  readonly offeredBytes: number;
  /** Frames that have waited and gone so far. */
  readonly released: number;
  readonly heldFrames: number;
  readonly heldMessages: number;
  readonly heldCostBytes: number;
  /** Memory that they take. */
  readonly heldBytes: number;
  /** What all producers of its connection hold. */
  readonly account: { readonly state: { readonly bytes: number; readonly maxBytes: number } };
  /** Is told of each release; undefined while no page looks at the topic. */
  watch: PublishingWatch | undefined;
}

/** Learns which producer had a turn, and how long what went had waited. */
export interface PublishingWatch {
  onReleased(flow: PublishingFlow, waitedMs: number): void;
}

/** The notices that an aware producer gets. */
export interface PublishingNotices {
  /** The end of its pause and when it was told, in monotonic time; -Infinity before the first. */
  readonly untilMs: number;
  readonly toldAtMs: number;
  readonly receiptAfterMs: number | undefined;
  readonly toldLevel: PublishingLevel | undefined;
  /** Notices that it was sent, and receipts that it sent. */
  readonly noticeCount: number;
  readonly receiptCount: number;
}

export interface PublishingProducer {
  readonly flow: PublishingFlow;
  readonly aware: PublishingNotices | undefined;
}
