import { Fifo } from "@sluice/core/internal";
import type { StoredEntry } from "../../storage/log/topic-log.ts";

/** Entries that were read again and wait to be delivered, in order, with their bytes counted. */
export class FetchedEntries<T extends { readonly entry: StoredEntry }> {
  readonly #entries = new Fifo<T>();
  #bytes = 0;

  get length(): number {
    return this.#entries.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(fetched: T): void {
    this.#entries.push(fetched);
    this.#bytes += fetched.entry.bytes.length;
  }

  shift(): T | undefined {
    const next = this.#entries.shift();
    if (next !== undefined) this.#bytes -= next.entry.bytes.length;
    return next;
  }
}
