import { Fifo } from "@sluice/core/internal";
import type { CommandOf } from "@sluice/pulsar/wire";
import type { ResultEvent } from "./session-event.ts";

/** How a SEND ended. CLOSE_PRODUCER tells the client to send it again, with all after it. */
export type SendOutcome = CommandOf<"sendReceipt" | "sendError" | "closeProducer">;

/** A SEND that has no answer yet. */
interface PendingSend {
  readonly sequenceId: bigint;
  readonly highestSequenceId: bigint | undefined;
  /** Set once; it is sent when all SENDs before it are answered. */
  outcome: SendOutcome | undefined;
}

/** What the broker says of a producer that it has opened. */
export type OpenedProducer = Extract<ResultEvent, { readonly kind: "producerOpened" }>;

/**
 * A producer as its connection knows it. Its answers are sent in the order of its SENDs, because a
 * client takes an answer out of order for a broken connection.
 */
export class SessionProducer {
  readonly key: number;
  readonly id: bigint;
  readonly topic: string;
  readonly requestId: bigint;
  /**
   * - `opening`: the broker opens it;
   * - `waiting`: it was told to wait for exclusive access;
   * - `open`: may send;
   * - `blocked`: a SEND found no room, so that those after it are not taken; it closes as soon as the
   *   SENDs before are answered, and the client opens it again;
   * - `closing`: its client wants it closed as soon as its SENDs are answered.
   */
  state: "opening" | "waiting" | "open" | "blocked" | "closing" = "opening";
  /** Once it has been open. */
  opened: OpenedProducer | undefined;
  closeRequestId: bigint | undefined;
  readonly #pending = new Fifo<PendingSend>();
  #nextSequence = 0;

  constructor(key: number, id: bigint, topic: string, requestId: bigint) {
    this.key = key;
    this.id = id;
    this.topic = topic;
    this.requestId = requestId;
  }

  get pendingSends(): number {
    return this.#pending.length;
  }

  /** Answers the sequence number under which the outcome is to be told. */
  add(sequenceId: bigint, highestSequenceId: bigint | undefined): number {
    this.#pending.push({ sequenceId, highestSequenceId, outcome: undefined });
    return this.#nextSequence++;
  }

  /** Undefined if it has been answered. */
  pendingSend(sequence: number): PendingSend | undefined {
    return this.#pending.at(sequence - this.#nextSequence + this.#pending.length);
  }

  /** The next answer whose turn has come. */
  takeAnswer(): SendOutcome | undefined {
    const outcome = this.#pending.peek()?.outcome;
    if (outcome !== undefined) this.#pending.shift();
    return outcome;
  }
}
