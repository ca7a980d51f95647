import { AcknowledgedPrefix } from "../acknowledged-prefix.ts";
import type { Place } from "../acknowledged-prefix.ts";

/** What was read of one partition since it was assigned, and which offset may be committed. */
export class PartitionLog {
  #prefix: AcknowledgedPrefix;
  #committed: number;
  /** The offset behind the last message that was read. */
  #next: number;

  constructor(offset: number) {
    this.#prefix = new AcknowledgedPrefix(offset);
    this.#committed = offset;
    this.#next = offset;
  }

  /**
   * A message has come. Undefined: it is in the pipeline already. After each rebalance the client library reads a
   * partition from its committed offset on, also one that this consumer has kept.
   */
  add(offset: number): Place | undefined {
    // Below the committed offset nothing comes again, unless the topic was created anew.
    if (offset < this.#committed) this.#begin(offset);
    if (offset < this.#next) return undefined;
    this.#next = offset + 1;
    return this.#prefix.add(offset + 1);
  }

  acknowledge(place: Place): void {
    this.#prefix.acknowledge(place);
  }

  /** The lowest unacknowledged offset, if it is to be committed. */
  get toCommit(): number | undefined {
    return this.#prefix.position > this.#committed ? this.#prefix.position : undefined;
  }

  get committed(): number {
    return this.#committed;
  }

  onCommitted(offset: number): void {
    this.#committed = offset;
  }

  #begin(offset: number): void {
    this.#prefix = new AcknowledgedPrefix(offset);
    this.#committed = offset;
    this.#next = offset;
  }
}
