import type { SluiceError } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";
import type { MessageIdData } from "../../wire/definition/message-id.ts";

/**
 * One SEND: a message, a batch of them or a piece of one, as the bytes that go out each time it is
 * sent.
 */
export interface PendingSend {
  /** Pieces of one message have the same. */
  readonly sequenceId: bigint;
  /** Of its last message. */
  readonly highestSequenceId: bigint;
  /** 0, and no bytes, for all pieces of a message but the last. */
  readonly messages: number;
  readonly sizeBytes: number;
  readonly frame: Buffer;
  /** Infinity if it may take for ever. */
  readonly deadlineAtMs: number;
  /** Exactly one of these is called, once. */
  onStored(id: MessageIdData | undefined): void;
  onFailed(error: SluiceError): void;
}

/**
 * What a receipt means: the first that was sent is stored; or it is about one that was given up
 * before; or the broker has lost something on the way.
 */
export type ReceiptMeaning = PendingSend | "stale" | "ahead";

/** The SENDs of a producer without a receipt, in order: those on the wire, then those before it. */
export class PendingSends {
  #onWire = new Fifo<PendingSend>();
  #waiting = new Fifo<PendingSend>();
  #last: PendingSend | undefined;

  get length(): number {
    return this.#onWire.length + this.#waiting.length;
  }

  get first(): PendingSend | undefined {
    return this.#onWire.peek() ?? this.#waiting.peek();
  }

  get last(): PendingSend | undefined {
    return this.length === 0 ? undefined : this.#last;
  }

  push(send: PendingSend): void {
    this.#waiting.push(send);
    this.#last = send;
  }

  /** The next to be written to the wire; it counts as written. */
  takeForWire(): PendingSend | undefined {
    const send = this.#waiting.shift();
    if (send !== undefined) this.#onWire.push(send);
    return send;
  }

  /** The wire is gone: all must be written again. Answers how many messages had been. */
  rewind(): number {
    const again = new Fifo<PendingSend>();
    let messages = 0;
    for (const send of taken(this.#onWire)) {
      messages += send.messages;
      again.push(send);
    }
    for (const send of taken(this.#waiting)) again.push(send);
    this.#waiting = again;
    return messages;
  }

  onReceipt(sequenceId: bigint, highestSequenceId: bigint = 0n): ReceiptMeaning {
    const first = this.first;
    if (first === undefined || sequenceId < first.sequenceId) return "stale";
    // Of what is no batch brokers say -1, 0 or the id again.
    const highest = BigInt.asIntN(64, highestSequenceId);
    const isWhole = highest <= sequenceId || highest === first.highestSequenceId;
    if (sequenceId > first.sequenceId || !isWhole || this.#onWire.length === 0) return "ahead";
    this.#onWire.shift();
    return first;
  }

  /** Takes the first off the wire if it is this one: the broker does not want it. */
  takeRefused(sequenceId: bigint): PendingSend | undefined {
    return this.#onWire.peek()?.sequenceId === sequenceId ? this.#onWire.shift() : undefined;
  }

  /** All, in order; none is pending any more. */
  takeAll(): readonly PendingSend[] {
    return [...taken(this.#onWire), ...taken(this.#waiting)];
  }
}

function* taken(sends: Fifo<PendingSend>): Generator<PendingSend> {
  for (;;) {
    const send = sends.shift();
    if (send === undefined) return;
    yield send;
  }
}
