import type { RefusalError } from "../../refusal/refusal-error.ts";
import type { NewEntry } from "../../storage/log/topic-log.ts";
import type { Position } from "../../storage/position.ts";
import type { ClientFacts } from "../topic-stats.ts";

/**
 * Who else may publish to the topic meanwhile: anybody, or nobody. If somebody does already, a
 * producer that would be alone is refused, waits for its turn, or closes the others.
 */
export type AccessMode = "shared" | "exclusive" | "wait-for-exclusive" | "exclusive-with-fencing";

/** What a session says when it opens a producer, and what it wants to hear. */
export interface ProducerRequest {
  readonly topic: string;
  /** Made up by the broker if absent. */
  readonly producerName?: string | undefined;
  readonly accessMode: AccessMode;
  /** The connection, by identity: only it may replace a producer of its own by name. */
  readonly owner: object;
  /** Of the producer; a replacement must have a higher one than what it replaces. */
  readonly epoch: bigint;
  /** The epoch that the producer was given when it was alone last; fenced if others were since. */
  readonly topicEpoch?: bigint | undefined;
  /** Made with the topic's end as its start, unless it is there. */
  readonly initialSubscription?: string | undefined;
  /**
   * It is the turn of a producer that had to wait. Called once at most, and if its turn comes at once
   * before its handle is there.
   */
  readonly onReady: (topicEpoch: bigint) => void;
  /** The broker has closed the producer: it was fenced, or its topic is gone or has stopped. */
  readonly onClosed: (why: RefusalError) => void;
  /** Another client was refused because of this producer, which may be of a client that is gone. */
  readonly onContested?: (() => void) | undefined;
  /** Of the producer on its connection; for statistics, as is `client`. */
  readonly id?: bigint | undefined;
  readonly client?: ClientFacts | undefined;
}

export type Publication = Pick<NewEntry, "parts" | "messageCount">;

export interface ProducerHandle {
  readonly name: string;
  /** False while it waits to be alone: nothing may be published before `onReady`. */
  readonly isReady: boolean;
  /** Present once the producer is alone by right. */
  readonly topicEpoch: bigint | undefined;
  /** The last one that is stored of a producer of this name; -1 if none is known. */
  readonly lastSequenceId: bigint;

  /**
   * Resolves once the entry is stored, in the order of the calls; without a position if it was stored
   * before. Rejects with a `RefusalError` if it was not, or if nobody can say so.
   */
  publish(publication: Publication): Promise<Position | undefined>;

  /** Idempotent. What was published before is still answered. */
  close(): void;
}
