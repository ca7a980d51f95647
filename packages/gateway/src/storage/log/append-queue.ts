import { Fifo } from "@sluice/core/internal";
import type { Position } from "../position.ts";
import { recordBytesOf } from "../segment/record.ts";
import type { NewEntry } from "./topic-log.ts";

/** An append that waits to be durable. */
export interface PendingAppend {
  readonly entry: NewEntry;
  /** Of its record. */
  readonly sizeBytes: number;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: Error) => void;
}

/** Appends in the order of their calls, taken in groups that become durable together. */
export class AppendQueue {
  readonly #pending = new Fifo<PendingAppend>();
  #sizeBytes = 0;

  get length(): number {
    return this.#pending.length;
  }

  /** Of all that wait. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Of the next record. */
  get nextBytes(): number {
    return this.#pending.peek()?.sizeBytes ?? 0;
  }

  push(entry: NewEntry): Promise<Position> {
    const sizeBytes = recordBytesOf(entry);
    this.#sizeBytes += sizeBytes;
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry, sizeBytes, resolve, reject });
    });
  }

  /** The next ones, at least one if any waits, more as long as they fit into `bytesMax`. */
  take(bytesMax: number): readonly PendingAppend[] {
    const taken: PendingAppend[] = [];
    let sumBytes = 0;
    while (this.length > 0 && (taken.length === 0 || sumBytes + this.nextBytes <= bytesMax)) {
      const next = this.#pending.shift();
      if (next === undefined) break;
      taken.push(next);
      sumBytes += next.sizeBytes;
    }
    this.#sizeBytes -= sumBytes;
    return taken;
  }
}
