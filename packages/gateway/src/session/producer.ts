import { Fifo } from "@sluice/core/internal";
import type { CommandOf } from "@sluice/pulsar/wire";

/** How a SEND ended, as its client is told. CLOSE_PRODUCER: it is to be sent again, with all after it. */
export type SendOutcome = CommandOf<"sendReceipt" | "sendError" | "closeProducer">;

/** A SEND that has no answer yet. */
export interface PendingSend {
  readonly producer: SessionProducer;
  readonly sequenceId: bigint;
  readonly highestSequenceId: bigint | undefined;
  readonly messageCount: number;
  readonly sizeBytes: number;
  /** Set once; it leaves when all before it have left. */
  outcome: SendOutcome | undefined;
}

/** What the broker says of a producer that it has opened. */
export interface OpenedProducer {
  readonly name: string;
  readonly isReady: boolean;
  readonly topicEpoch: bigint | undefined;
  readonly schemaVersion: Uint8Array | undefined;
}

/**
 * A producer as its connection knows it. Its answers leave in the order of its SENDs, because a
 * client takes one that comes early for a broken connection.
 */
export class SessionProducer {
  readonly id: bigint;
  readonly topic: string;
  readonly requestId: bigint;
  /**
   * - `opening`, `waiting`: asked for; it was told that its turn will come;
   * - `open`: may send;
   * - `closing`: wants to go as soon as its SENDs are answered;
   * - `closed`: gone, for whatever reason.
   */
  state: "opening" | "waiting" | "open" | "closing" | "closed" = "opening";
  /** Once it has been open. */
  opened: OpenedProducer | undefined;
  closeRequestId: bigint | undefined;
  readonly #pending = new Fifo<PendingSend>();

  constructor(id: bigint, topic: string, requestId: bigint) {
    this.id = id;
    this.topic = topic;
    this.requestId = requestId;
  }

  get pendingSends(): number {
    return this.#pending.length;
  }

  add(send: PendingSend): void {
    this.#pending.push(send);
  }

  /** Takes the answers whose turn has come. */
  *takeAnswers(): Generator<SendOutcome> {
    for (;;) {
      const outcome = this.#pending.peek()?.outcome;
      if (outcome === undefined) return;
      this.#pending.shift();
      yield outcome;
    }
  }
}
