import type { Sink, SinkConnector, WriteOptions, WriteResult } from "../sink.ts";
import type { Message } from "../../message.ts";

/** Called before messages are kept. It answers failures, throws, or waits, as a server would. */
export type OnWrite<T> = (
  messages: readonly Message<T>[],
  options: WriteOptions,
) => readonly WriteResult[] | void | Promise<readonly WriteResult[] | void>;

/**
 * A sink in memory, for tests.
 *
 * @example
 * const sink = new MemorySink<number>();
 * sink.values; // what was written
 */
export class MemorySink<T> implements SinkConnector<T> {
  readonly kind = "memory";
  readonly #onWrite: OnWrite<T> | undefined;
  readonly #written: Message<T>[] = [];
  #open = 0;

  constructor({ onWrite }: { readonly onWrite?: OnWrite<T> | undefined } = {}) {
    this.#onWrite = onWrite;
  }

  /** Messages that were written, in order. */
  get written(): readonly Message<T>[] {
    return this.#written;
  }

  get values(): readonly T[] {
    return this.#written.map(({ value }) => value);
  }

  /** Whether it is open at present. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  open(): Promise<Sink<T>> {
    let isClosed = false;
    this.#open++;
    return Promise.resolve({
      write: async (messages, options) => {
        const results = await this.#onWrite?.(messages, options);
        this.#written.push(...messages.filter((_, index) => results?.[index] === undefined));
        return results;
      },
      close: () => {
        if (!isClosed) this.#open--;
        isClosed = true;
        return Promise.resolve();
      },
    });
  }
}
