import { requireDuration, requireWhole } from "@sluice/core/internal";
import { BatchWriter } from "../../wire/batch.ts";
import type { Parcel } from "./parcel.ts";
import type { SendTicket } from "./send-ticket.ts";

export interface BatchLimits {
  readonly messagesMax: number;
  /** Of all messages together, uncompressed. A larger message goes alone. */
  readonly bytesMax: number;
  /** How long the first may wait for others. */
  readonly delayMaxMs: number;
}

/** Gathers messages, in order, until they are as many or as large as may go together. */
export class BatchBuilder {
  readonly #limits: BatchLimits;
  readonly #writer = new BatchWriter();
  #tickets: SendTicket[] = [];
  #sizeBytes = 0;
  #dueAtMs = 0;
  #brokerBytesMax = Infinity;

  constructor(limits: BatchLimits) {
    requireWhole("batching.messagesMax", limits.messagesMax, 1, 1_000_000);
    requireWhole("batching.bytesMax", limits.bytesMax, 1, 2 ** 31 - 1);
    requireDuration("batching.delayMaxMs", limits.delayMaxMs);
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#tickets.length === 0;
  }

  get isFull(): boolean {
    const { messagesMax, bytesMax } = this.#limits;
    return this.#tickets.length >= messagesMax || this.#sizeBytes >= bytesMax;
  }

  /** When the batch has to go, even if it is not full; for one that is not empty. */
  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** What the broker takes at most, if that is less than the limits say. */
  set brokerBytesMax(bytes: number) {
    this.#brokerBytesMax = bytes;
  }

  /** Whether a message of so many bytes may join; an empty batch takes any. */
  hasRoomFor(sizeBytes: number): boolean {
    const bytesMax = Math.min(this.#limits.bytesMax, this.#brokerBytesMax);
    return this.isEmpty || this.#sizeBytes + sizeBytes <= bytesMax;
  }

  add(ticket: SendTicket, nowMs: number): void {
    const first = this.#tickets[0];
    if (first === undefined) this.#dueAtMs = nowMs + this.#limits.delayMaxMs;
    // The first is written when a second comes: most batches of a slow producer have only one.
    else {
      if (this.#tickets.length === 1) this.#write(first);
      this.#write(ticket);
    }
    this.#tickets.push(ticket);
    this.#sizeBytes += ticket.sizeBytes;
  }

  /**
   * All that was gathered, which must be something; the next batch begins empty. One message goes
   * as what it is, which is smaller and spares all who receive it the taking apart.
   */
  take(): Parcel {
    const tickets = this.#tickets;
    const batch = tickets.length > 1 ? this.#writer.take() : undefined;
    this.#tickets = [];
    this.#sizeBytes = 0;
    return { tickets, batch };
  }

  #write({ message, sequenceId }: SendTicket): void {
    const { properties, partitionKey, partitionKeyB64Encoded } = message.metadata;
    const { orderingKey, eventTime } = message.metadata;
    this.#writer.add(
      { properties, partitionKey, partitionKeyB64Encoded, orderingKey, eventTime, sequenceId },
      message.payload,
    );
  }
}
