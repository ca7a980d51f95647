import { Fifo } from "@sluice/core/internal";
import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";
import type { ReadBounds, StoredEntry } from "../storage/log/topic-log.ts";
import { after } from "./dispatch/dispatcher.ts";
import type { ReadRequest } from "./dispatch/dispatcher.ts";

/** Weight of the newest read in the mean number of messages that an entry has. */
const MEAN_WEIGHT = 0.2;

/**
 * Entries that a read asks for at least, also for fewer permits: a consumer with a receive queue of 1
 * would otherwise cost a read for each message.
 */
const ENTRIES_MIN = 16;

/**
 * New entries on their way from the log: where to read on, and what has been read and not given out.
 * It is only filled when it is empty, so one read is all that it ever holds.
 */
export class ReadAhead {
  readonly #boundsMax: ReadBounds;
  #from: Position;
  #entries = new Fifo<StoredEntry>();
  #bytes = 0;
  #request: ReadRequest | undefined;
  #messagesPerEntry = 1;

  constructor(from: Position, boundsMax: ReadBounds) {
    this.#from = from;
    this.#boundsMax = boundsMax;
  }

  /** Entries that are held. */
  get length(): number {
    return this.#entries.length;
  }

  /** Bytes of these entries. */
  get bytes(): number {
    return this.#bytes;
  }

  peek(): StoredEntry | undefined {
    return this.#entries.peek();
  }

  shift(): StoredEntry | undefined {
    const entry = this.#entries.shift();
    if (entry !== undefined) this.#bytes -= entry.bytes.length;
    return entry;
  }

  /**
   * A wish for about so many messages, and for `ENTRIES_MIN` at least; undefined while there are
   * entries or a wish is open. What is before `ackedBefore` is not read.
   */
  wanted(messages: number, ackedBefore: Position): ReadRequest | undefined {
    if (this.#request !== undefined || this.#entries.length > 0) return undefined;
    if (comparePositions(this.#from, ackedBefore) < 0) this.#from = ackedBefore;
    const { countMax, bytesMax } = this.#boundsMax;
    const entries = Math.ceil(messages / this.#messagesPerEntry);
    this.#request = {
      from: this.#from,
      bounds: { countMax: Math.min(countMax, Math.max(ENTRIES_MIN, entries)), bytesMax },
    };
    return this.#request;
  }

  onRead(request: ReadRequest, entries: readonly StoredEntry[]): void {
    if (request !== this.#request) return;
    this.#request = undefined;
    const last = entries.at(-1);
    if (last === undefined) return;
    this.#from = after(last.position);
    let messages = 0;
    for (const entry of entries) {
      messages += entry.messageCount;
      this.#bytes += entry.bytes.length;
      this.#entries.push(entry);
    }
    const mean = Math.max(1, messages / entries.length);
    this.#messagesPerEntry += MEAN_WEIGHT * (mean - this.#messagesPerEntry);
  }

  /** Lets go of the entries that it holds: they will be read again. */
  putBack(): void {
    const first = this.#entries.peek();
    if (first !== undefined) this.restart(first.position);
  }

  /** Forgets what it holds and what it wished for, and reads on from a position. */
  restart(from: Position): void {
    this.#from = from;
    this.#entries = new Fifo();
    this.#bytes = 0;
    this.#request = undefined;
  }
}
