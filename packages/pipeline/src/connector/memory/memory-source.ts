import { END } from "../source.ts";
import type { ReadOptions, Source, SourceConnector } from "../source.ts";
import type { Timer } from "@sluice/core";
import type { Message } from "../../message.ts";

export interface MemorySourceOptions {
  /** Whether reads wait for further messages instead of answering the end. Default: false. */
  readonly isEndless?: boolean | undefined;
  /** Called before each read; what it throws is what the read rejects with. Default: none. */
  readonly onRead?: (() => void | Promise<void>) | undefined;
  /** Called before each acknowledgement; what it throws is what that rejects with. Default: none. */
  readonly onAck?: ((messages: readonly Message[]) => void | Promise<void>) | undefined;
}

const NO_HEADERS = Object.freeze({});

/**
 * A source in memory, for tests. It is a connector and its server in one: what was read and not acknowledged is
 * there again when it is opened again.
 *
 * @example
 * const source = new MemorySource([1, 2, 3]);
 */
export class MemorySource<T> implements SourceConnector<T> {
  readonly kind = "memory";
  readonly #options: MemorySourceOptions;
  #waiting: Message<T>[] = [];
  readonly #unacknowledged = new Set<Message<T>>();
  readonly #acknowledged: Message<T>[] = [];
  readonly #givenBack: Message<T>[] = [];
  readonly #abandoned: Message<T>[] = [];
  /** Wakes a read that waits. */
  #wake: () => void = () => {};
  #added = 0;
  #open = 0;

  constructor(values: readonly T[] = [], options: MemorySourceOptions = {}) {
    this.#options = options;
    this.add(...values);
  }

  /** In the order of their acknowledgements. */
  get acknowledged(): readonly Message<T>[] {
    return this.#acknowledged;
  }

  /** In the order in which they were given back (`nack`). */
  get givenBack(): readonly Message<T>[] {
    return this.#givenBack;
  }

  /** Messages that were neither acknowledged nor given back when it was closed. They come again all the same. */
  get abandoned(): readonly Message<T>[] {
    return this.#abandoned;
  }

  /** Messages that were read, and neither acknowledged nor given back. */
  get unacknowledged(): number {
    return this.#unacknowledged.size;
  }

  /** Whether it is open at present. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  /** Adds one message for each value. */
  add(...values: readonly T[]): void {
    this.put(...values.map((value) => ({ value })));
  }

  /** Adds messages, with keys or headers. Ids are numbers, from 0 on. */
  put(...messages: readonly (Pick<Message<T>, "value"> & Partial<Message<T>>)[]): void {
    for (const { id = String(this.#added), value, key, headers, eventTimeMs } of messages) {
      this.#added++;
      this.#waiting.push({ id, value, key, headers: headers ?? NO_HEADERS, eventTimeMs });
    }
    this.#wake();
  }

  open({ timer }: { readonly timer: Timer }): Promise<Source<T>> {
    let isClosed = false;
    this.#open++;
    return Promise.resolve({
      read: (countMax, options) => this.#read(countMax, options, timer, () => isClosed),
      ack: (messages) => this.#ack(messages),
      nack: (messages) => {
        this.#givenBack.push(...messages);
        this.#return(messages);
        return Promise.resolve();
      },
      backlog: () => Promise.resolve(this.#waiting.length),
      close: () => {
        if (!isClosed) this.#open--;
        isClosed = true;
        this.#abandoned.push(...this.#unacknowledged);
        this.#return([...this.#unacknowledged]);
        return Promise.resolve();
      },
    });
  }

  async #read(
    countMax: number,
    { signal, waitMs }: ReadOptions,
    timer: Timer,
    isClosed: () => boolean,
  ): Promise<readonly Message<T>[] | typeof END> {
    await this.#options.onRead?.();
    if (this.#waiting.length === 0) {
      if (this.#options.isEndless !== true) return END;
      if (!signal.aborted && !isClosed()) await this.#wait(timer, waitMs, signal);
    }
    if (isClosed()) return [];
    const messages = this.#waiting.splice(0, countMax);
    for (const message of messages) this.#unacknowledged.add(message);
    return messages;
  }

  async #wait(timer: Timer, waitMs: number, signal: AbortSignal): Promise<void> {
    const added = new AbortController();
    this.#wake = () => added.abort();
    const end = (): void => added.abort();
    signal.addEventListener("abort", end, { once: true });
    await timer.sleep(waitMs, added.signal).catch(() => {});
    signal.removeEventListener("abort", end);
    this.#wake = () => {};
  }

  async #ack(messages: readonly Message<T>[]): Promise<void> {
    await this.#options.onAck?.(messages);
    for (const message of messages) {
      if (!this.#unacknowledged.delete(message))
        throw new Error(`message ${message.id} was not read, or is acknowledged already`);
      this.#acknowledged.push(message);
    }
  }

  #return(messages: readonly Message<T>[]): void {
    const again = messages.filter((message) => this.#unacknowledged.delete(message));
    this.#waiting = [...again, ...this.#waiting];
    this.#wake();
  }
}
