import type { Message } from "../message.ts";

/**
 * A message of the source, with the number of its outputs that no sink has yet. It is complete, and may be
 * acknowledged, once every output is written, dropped or dead-lettered.
 */
export class Origin {
  /** The object that the source answered: it is acknowledged by this very object. */
  readonly message: Message;
  #outstanding = 1;

  constructor(message: Message) {
    this.message = message;
  }

  get isComplete(): boolean {
    return this.#outstanding === 0;
  }

  /** A map has made `count` outputs of one of its messages; none if it was dropped. Answers whether this completes it. */
  onMapped(count: number): boolean {
    this.#outstanding += count - 1;
    return this.#outstanding === 0;
  }

  /** One of its outputs is written or dead-lettered. Answers whether it was the last. */
  onDone(): boolean {
    return --this.#outstanding === 0;
  }
}
