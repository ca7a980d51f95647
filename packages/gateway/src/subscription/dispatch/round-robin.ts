import type { Consumer } from "../consumer.ts";

/** Whose turn it is: of the consumers that can take something, those of the first priority in turn. */
export class RoundRobin {
  /** By priority, then in the order of joining. */
  #consumers: readonly Consumer[] = [];
  /** Where the last one stands whose turn it was. */
  #at = -1;

  get consumers(): readonly Consumer[] {
    return this.#consumers;
  }

  add(consumer: Consumer): void {
    this.#replace([...this.#consumers, consumer]);
  }

  remove(consumer: Consumer): void {
    this.#replace(this.#consumers.filter((other) => other !== consumer));
  }

  /** Messages that those who can take something have asked for. */
  permits(): number {
    let permits = 0;
    for (const consumer of this.#consumers) if (consumer.canTake) permits += consumer.permits;
    return permits;
  }

  next(): Consumer | undefined {
    const first = this.#consumers.findIndex((consumer) => consumer.canTake);
    const level = this.#consumers[first]?.priorityLevel;
    if (level === undefined) return undefined;
    this.#at = this.#afterLast(level) ?? first;
    return this.#consumers[this.#at];
  }

  #afterLast(level: number): number | undefined {
    for (let at = this.#at + 1; at < this.#consumers.length; at++) {
      const consumer = this.#consumers[at];
      if (consumer?.priorityLevel === level && consumer.canTake) return at;
    }
    return undefined;
  }

  #replace(consumers: readonly Consumer[]): void {
    const last = this.#consumers[this.#at];
    this.#consumers = consumers.toSorted((a, b) => a.priorityLevel - b.priorityLevel);
    this.#at = last === undefined ? -1 : this.#consumers.indexOf(last);
  }
}
