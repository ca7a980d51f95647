import type { MessageId } from "../message/message-id.ts";
import type { Delivery } from "./delivery.ts";

/**
 * Where a consumer was told to start. Brokers start at the entry that the position is in; which of
 * its messages come before it only the consumer can tell.
 */
export class StartPosition {
  /** Wherever the subscription is. */
  static readonly none: StartPosition = new StartPosition(undefined, true);

  readonly id: MessageId | undefined;
  readonly #isInclusive: boolean;

  constructor(id: MessageId | undefined, isInclusive: boolean) {
    this.id = id;
    this.#isInclusive = isInclusive;
  }

  /** `batchIndex` is undefined for a message that is in no batch. */
  isPassed({ id }: Delivery, batchIndex: number | undefined): boolean {
    const start = this.id;
    if (start === undefined) return false;
    if (BigInt.asIntN(64, id.ledgerId) !== start.ledgerId) return false;
    if (BigInt.asIntN(64, id.entryId) !== start.entryId) return false;
    // A position that names no message of the batch is the whole of it.
    if (batchIndex === undefined || start.batchIndex < 0) return !this.#isInclusive;
    return this.#isInclusive ? batchIndex < start.batchIndex : batchIndex <= start.batchIndex;
  }
}
