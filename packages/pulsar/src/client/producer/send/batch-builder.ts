import { requireDuration, requireWhole } from "@sluice/core/internal";
import { BatchWriter } from "../../../wire/batch.ts";
import type { SendBatch } from "./send-frames.ts";
import type { SendCall } from "./send-call.ts";

export interface BatchLimits {
  /** Messages per batch. */
  readonly messagesMax: number;
  /** Bytes of all messages of a batch, uncompressed. A larger message is sent alone. */
  readonly bytesMax: number;
  /** Longest wait of a batch's first message for others. */
  readonly delayMaxMs: number;
}

/** Collects messages in order until the batch is full. */
export class BatchBuilder {
  readonly #limits: BatchLimits;
  readonly #writer = new BatchWriter();
  #calls: SendCall[] = [];
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
    return this.#calls.length === 0;
  }

  get isFull(): boolean {
    const { messagesMax, bytesMax } = this.#limits;
    return this.#calls.length >= messagesMax || this.#sizeBytes >= bytesMax;
  }

  /** When a batch that is not empty has to be sent even if it is not full. */
  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** The broker's maxMessageSize: a second bound on the bytes of a batch. */
  set brokerBytesMax(bytes: number) {
    this.#brokerBytesMax = bytes;
  }

  /** Whether a message of `sizeBytes` may join; an empty batch takes any message. */
  hasRoomFor(sizeBytes: number): boolean {
    const bytesMax = Math.min(this.#limits.bytesMax, this.#brokerBytesMax);
    return this.isEmpty || this.#sizeBytes + sizeBytes <= bytesMax;
  }

  add(call: SendCall, nowMs: number): void {
    const first = this.#calls[0];
    if (first === undefined) this.#dueAtMs = nowMs + this.#limits.delayMaxMs;
    // The first message is written when the second comes: a slow producer's batches mostly have one.
    else {
      if (this.#calls.length === 1) this.#write(first);
      this.#write(call);
    }
    this.#calls.push(call);
    this.#sizeBytes += call.sizeBytes;
  }

  /**
   * The collected messages, at least one; the next batch begins empty. A single message is sent
   * without the batch format: fewer bytes, and consumers need not take a batch apart.
   */
  take(): SendBatch {
    const calls = this.#calls;
    const payload = calls.length > 1 ? this.#writer.take() : undefined;
    this.#calls = [];
    this.#sizeBytes = 0;
    return { calls, payload };
  }

  #write({ message, sequenceId }: SendCall): void {
    const { properties, partitionKey, partitionKeyB64Encoded } = message.metadata;
    const { orderingKey, eventTime } = message.metadata;
    this.#writer.add(
      { properties, partitionKey, partitionKeyB64Encoded, orderingKey, eventTime, sequenceId },
      message.payload,
    );
  }
}
