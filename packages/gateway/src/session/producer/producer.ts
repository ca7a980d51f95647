import { Fifo } from "@sluice/core/internal";
import type { CommandBodies, CommandOf } from "@sluice/pulsar/wire";
import type { ResultEvent } from "../session-event.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

/**
 * How a SEND ended. CLOSE_PRODUCER tells the client to send it again, with all after it. A PRODUCER that
 * was sent again stands among the SENDs, with PRODUCER_SUCCESS as its outcome.
 */
export type SendOutcome = CommandOf<
  "sendReceipt" | "sendError" | "closeProducer" | "producerSuccess"
>;

/** A SEND that has no answer yet. */
interface PendingSend {
  readonly sequenceId: bigint;
  readonly highestSequenceId: bigint | undefined;
  /** Set once; it is sent when all SENDs before it are answered. */
  outcome: SendOutcome | undefined;
  /** Where it counts until its answer is sent; undefined if the broker answers it. */
  readonly unsent: UnsentAnswers | undefined;
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
  /** A PRODUCER with the same id that came while this one was closing; served once it is closed. */
  successor: CommandBodies["producer"] | undefined;
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
  add(sequenceId: bigint, highestSequenceId: bigint | undefined, unsent?: UnsentAnswers): number {
    this.#pending.push({ sequenceId, highestSequenceId, outcome: undefined, unsent });
    unsent?.add();
    return this.#nextSequence++;
  }

  /** Undefined if it has been answered. */
  pendingSend(sequence: number): PendingSend | undefined {
    return this.#pending.at(sequence - this.#nextSequence + this.#pending.length);
  }

  /** The next answer whose turn has come. */
  takeAnswer(): SendOutcome | undefined {
    const outcome = this.#pending.peek()?.outcome;
    if (outcome !== undefined) this.#pending.shift()?.unsent?.remove();
    return outcome;
  }

  /** The outcomes, as far as known, of all that is not answered, which is forgotten. */
  takeRest(): readonly (SendOutcome | undefined)[] {
    const rest: (SendOutcome | undefined)[] = [];
    for (let send = this.#pending.shift(); send !== undefined; send = this.#pending.shift()) {
      rest.push(send.outcome);
      send.unsent?.remove();
    }
    return rest;
  }
}
