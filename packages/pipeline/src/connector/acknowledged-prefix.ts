import { Fifo } from "@sluice/core/internal";

/** A message, or a skipped part, that ends at a position of its source. */
export interface Place {
  /** The position after it. */
  readonly end: number;
  isAcknowledged: boolean;
}

/**
 * The position up to which everything is acknowledged, for sources that store one position: a file's offset, the
 * offset of a Kafka partition. Acknowledgements may come in any order; the position moves when the lowest
 * unacknowledged message is acknowledged. Holds one place for each message from that one on.
 */
export class AcknowledgedPrefix {
  readonly #places = new Fifo<Place>();
  #position: number;

  constructor(position: number) {
    this.#position = position;
  }

  /** Reading begins here after a restart. */
  get position(): number {
    return this.#position;
  }

  /** Places from the lowest unacknowledged one on. */
  get length(): number {
    return this.#places.length;
  }

  /** Notes a message that was read; `end` is higher than that of the message before. */
  add(end: number): Place {
    const place = { end, isAcknowledged: false };
    this.#places.push(place);
    return place;
  }

  /** Notes a part that needs no acknowledgement, such as a line that is too long. */
  skip(end: number): void {
    this.#places.push({ end, isAcknowledged: true });
    this.#settle();
  }

  acknowledge(place: Place): void {
    place.isAcknowledged = true;
    this.#settle();
  }

  #settle(): void {
    for (let first = this.#places.peek(); first?.isAcknowledged === true;) {
      this.#position = first.end;
      this.#places.shift();
      first = this.#places.peek();
    }
  }
}
