import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { requireNumber, requireWhole } from "@sluice/core/internal";
import { requireOptions, shown } from "../check-options.ts";
import { END } from "../source.ts";
import type { Source, SourceConnector } from "../source.ts";
import type { Message } from "../../message.ts";

export interface GeneratorOptions<T> {
  /** The values of the messages: a list, or a function of the message's number, from 0 on. */
  readonly values: readonly T[] | ((index: number) => T);
  /** Messages in all; a list is repeated if need be. Default: the length of the list; a function has no end. */
  readonly count?: number | undefined;
  /** Messages a second, evenly. Default: as fast as they are read. */
  readonly ratePerSecond?: number | undefined;
}

const KEYS = [
  "values",
  "count",
  "ratePerSecond",
] as const satisfies (keyof GeneratorOptions<unknown>)[];
const EXAMPLE = "generator({ values: (index) => ({ order: index }) })";
const NO_HEADERS = Object.freeze({});

/**
 * A source that makes its messages up, for tries and load tests. It starts from the beginning whenever it is
 * opened, so what was not acknowledged comes again.
 *
 * @example
 * generator({ values: (index) => ({ order: index }), ratePerSecond: 100 });
 */
export function generator<T>(options: GeneratorOptions<T>): SourceConnector<T> {
  requireOptions("generator", options, { known: KEYS, example: EXAMPLE });
  const { values, ratePerSecond } = options;
  if (typeof values !== "function" && !Array.isArray(values))
    throw new ConfigError(
      `values of generator is ${shown(values)}; use a list or a function, e.g. ${EXAMPLE}`,
    );
  const count = options.count ?? (typeof values === "function" ? undefined : values.length);
  if (count !== undefined) requireWhole("count", count, 0);
  if (ratePerSecond !== undefined) requireNumber("ratePerSecond", ratePerSecond, 0.001, 1e9);
  return {
    kind: "generator",
    open: ({ timer }) =>
      Promise.resolve(new Generator(valueAt(values), count ?? Infinity, ratePerSecond, timer)),
  };
}

class Generator<T> implements Source<T> {
  readonly #valueAt: (index: number) => T;
  readonly #count: number;
  readonly #ratePerSecond: number | undefined;
  readonly #timer: Timer;
  readonly #startMs: number;
  #next = 0;

  constructor(
    at: (index: number) => T,
    count: number,
    ratePerSecond: number | undefined,
    timer: Timer,
  ) {
    this.#valueAt = at;
    this.#count = count;
    this.#ratePerSecond = ratePerSecond;
    this.#timer = timer;
    this.#startMs = timer.now();
  }

  async read(
    countMax: number,
    { signal, waitMs }: { readonly signal: AbortSignal; readonly waitMs: number },
  ): Promise<readonly Message<T>[] | typeof END> {
    if (this.#next >= this.#count) return END;
    if (this.#ratePerSecond === undefined) return this.#make(countMax);
    const dueMs = this.#startMs + (this.#next * 1000) / this.#ratePerSecond;
    const pauseMs = dueMs - this.#timer.now();
    if (pauseMs > 0) await this.#timer.sleep(Math.min(pauseMs, waitMs), signal).catch(() => {});
    const elapsedMs = this.#timer.now() - this.#startMs;
    const due = Math.floor((elapsedMs * this.#ratePerSecond) / 1000 + 1e-6) + 1;
    return this.#make(Math.min(countMax, Math.max(0, due - this.#next)));
  }

  ack(): Promise<void> {
    return Promise.resolve();
  }

  backlog(): Promise<number | undefined> {
    return Promise.resolve(this.#count === Infinity ? undefined : this.#count - this.#next);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #make(countMax: number): readonly Message<T>[] {
    const from = this.#next;
    const to = Math.min(from + countMax, this.#count);
    const messages: Message<T>[] = [];
    for (let index = from; index < to; index++) {
      const value = this.#valueAt(index);
      messages.push({
        id: String(index),
        value,
        key: undefined,
        headers: NO_HEADERS,
        eventTimeMs: undefined,
      });
    }
    this.#next = to;
    return messages;
  }
}

function valueAt<T>(values: GeneratorOptions<T>["values"]): (index: number) => T {
  if (typeof values === "function") return values;
  return (index) => values[index % values.length] as T;
}
