import type { SluiceError } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";

/** One SEND: a message, a batch or a chunk, as the bytes that are written each time it is sent. */
export interface PendingSend {
  /** Of its first message. All chunks of a message have the same one. */
  readonly sequenceId: bigint;
  /** Of its last message. */
  readonly highestSequenceId: bigint;
  /** 0, with 0 bytes, for every chunk of a message except the last. */
  readonly messages: number;
  readonly sizeBytes: number;
  readonly frame: Buffer;
  /** When `send` was called for its first message. */
  readonly calledAtMs: number;
  /** The producer's throttled time before that call. */
  readonly throttledMsBefore: number;
  /** Exactly one of `onStored` and `onFailed` is called, once. */
  onStored(id: MessageIdData | undefined): void;
  onFailed(error: SluiceError): void;
}

/**
 * The meaning of a SEND_RECEIPT: the oldest SEND on the wire is stored; or the receipt is for a SEND
 * that failed before (`stale`); or the broker left a SEND out (`ahead`).
 */
export type ReceiptMeaning = PendingSend | "stale" | "ahead";

/** The SENDs of a producer without a receipt, in order: first those on the wire, then the rest. */
export class PendingSends {
  #onWire = new Fifo<PendingSend>();
  #waiting = new Fifo<PendingSend>();
  #last: PendingSend | undefined;
  #messagesOnWire = 0;

  /** Messages that were written and have no receipt. */
  get messagesOnWire(): number {
    return this.#messagesOnWire;
  }

  /** Whether there are SENDs to write. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

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

  /** The next SEND to write; it counts as written from now on. */
  takeForWire(): PendingSend | undefined {
    const send = this.#waiting.shift();
    if (send === undefined) return undefined;
    this.#onWire.push(send);
    this.#messagesOnWire += send.messages;
    return send;
  }

  /** The connection is lost: every SEND must be written again. Answers the messages written before. */
  rewind(): number {
    const again = new Fifo<PendingSend>();
    let messages = 0;
    for (const send of taken(this.#onWire)) {
      messages += send.messages;
      again.push(send);
    }
    for (const send of taken(this.#waiting)) again.push(send);
    this.#waiting = again;
    this.#messagesOnWire = 0;
    return messages;
  }

  onReceipt(sequenceId: bigint, highestSequenceId: bigint = 0n): ReceiptMeaning {
    const first = this.first;
    if (first === undefined || sequenceId < first.sequenceId) return "stale";
    // For a SEND without a batch, brokers answer -1, 0 or the sequence id again.
    const highest = BigInt.asIntN(64, highestSequenceId);
    const isWhole = highest <= sequenceId || highest === first.highestSequenceId;
    if (sequenceId > first.sequenceId || !isWhole || this.#onWire.length === 0) return "ahead";
    this.#shiftOnWire();
    return first;
  }

  /** Removes the oldest SEND if it has this sequence id: the broker refused it. */
  takeRefused(sequenceId: bigint): PendingSend | undefined {
    return this.#onWire.peek()?.sequenceId === sequenceId ? this.#shiftOnWire() : undefined;
  }

  /** Removes all SENDs and returns them in order. */
  takeAll(): readonly PendingSend[] {
    this.#messagesOnWire = 0;
    return [...taken(this.#onWire), ...taken(this.#waiting)];
  }

  #shiftOnWire(): PendingSend | undefined {
    const send = this.#onWire.shift();
    this.#messagesOnWire -= send?.messages ?? 0;
    return send;
  }
}

function* taken(sends: Fifo<PendingSend>): Generator<PendingSend> {
  for (;;) {
    const send = sends.shift();
    if (send === undefined) return;
    yield send;
  }
}
