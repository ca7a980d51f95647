import type { MessageId } from "../message/message-id.ts";
import type { Delivery } from "./receive/delivery.ts";

/**
 * Where a consumer starts. Brokers start at the entry of the position; only the consumer can skip
 * the messages of its batch before it.
 */
export class StartPosition {
  /** The position of the subscription. */
  static readonly none: StartPosition = new StartPosition(undefined, true);

  readonly id: MessageId | undefined;
  readonly #isInclusive: boolean;

  constructor(id: MessageId | undefined, isInclusive: boolean) {
    this.id = id;
    this.#isInclusive = isInclusive;
  }

  /** `batchIndex` is undefined for a message outside of a batch. */
  isPassed({ id }: Delivery, batchIndex: number | undefined): boolean {
    const start = this.id;
    if (start === undefined) return false;
    if (BigInt.asIntN(64, id.ledgerId) !== start.ledgerId) return false;
    if (BigInt.asIntN(64, id.entryId) !== start.entryId) return false;
    // A position without a batch index covers the whole batch.
    if (batchIndex === undefined || start.batchIndex < 0) return !this.#isInclusive;
    return this.#isInclusive ? batchIndex < start.batchIndex : batchIndex <= start.batchIndex;
  }
}
