import { createHash } from "node:crypto";
import type { ConsumeOutcome } from "./driver.ts";

interface Header {
  readonly key: string;
  readonly sequence: number;
  readonly index: number;
}

/** Counts what arrives, as the drivers in other languages do. */
export class Tally {
  #received = 0;
  #duplicates = 0;
  #orderBroken = 0;
  #redelivered = 0;
  readonly #bodies = new Map<number, Buffer>();
  readonly #last = new Map<string, number>();

  get received(): number {
    return this.#received;
  }

  /** Whether the message comes for the first time. */
  add(body: Buffer, redeliveryCount: number): boolean {
    const { key, sequence, index } = JSON.parse(body.toString()) as Header;
    this.#received++;
    if (redeliveryCount > 0) this.#redelivered++;
    if (this.#bodies.has(index)) {
      this.#duplicates++;
      return false;
    }
    this.#bodies.set(index, body);
    if (sequence <= (this.#last.get(key) ?? -1)) this.#orderBroken++;
    this.#last.set(key, sequence);
    return true;
  }

  outcome(): Omit<ConsumeOutcome, "messages" | "ms"> {
    const digest = createHash("sha256");
    const inOrder = [...this.#bodies].toSorted(([a], [b]) => a - b);
    for (const [, body] of inOrder) digest.update(body);
    return {
      received: this.#received,
      distinct: this.#bodies.size,
      digest: digest.digest("hex"),
      perKeyOrderBroken: this.#orderBroken,
      duplicates: this.#duplicates,
      redelivered: this.#redelivered,
    };
  }
}
