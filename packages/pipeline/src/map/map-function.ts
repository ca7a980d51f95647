import type { Timer } from "@sluice/core";
import { requireDuration } from "@sluice/core/internal";
import type { Message, Output } from "../message.ts";
import type { MapConnector } from "./map-connector.ts";
import type { MapFailure, Mapped, Mapper } from "./mapper.ts";
import { ended } from "./time-limit.ts";

/** What a map function may use besides its message. */
export interface MapContext<S = unknown> {
  /** As given with the map; undefined if none were. */
  readonly settings: S;
  /** Aborted at the drain's deadline. */
  readonly signal: AbortSignal;
}

/** Outputs of one message: one, several, or undefined to drop it. */
export type MapAnswer<O> = Output<O> | readonly Output<O>[] | undefined | void;

export type MapFunction<I = unknown, O = unknown, S = unknown> = (
  message: Message<I>,
  context: MapContext<S>,
) => MapAnswer<O> | Promise<MapAnswer<O>>;

export interface MapOptions<S = unknown> {
  /** Passed to the function with every call. Default: undefined. */
  readonly settings?: S | undefined;
  /** The longest that a promise of the function may take, ms; the messages are then tried again. Default: no bound. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A map of one message at a time, in this process. What an async function rejects with may succeed later, so the
 * message is tried again; what a sync one throws is not, unless the error says `isRetriable: true`. The promises of
 * one batch run at once: `readBatchSize` bounds how many.
 *
 * @example
 * mapFunction<Order, Invoice>(({ value }) => ({ value: invoiceOf(value) }));
 */
export function mapFunction<I, O, S = unknown>(
  map: MapFunction<I, O, S>,
  options: MapOptions<S> = {},
): MapConnector<I, O> {
  const { timeoutMs } = options;
  if (timeoutMs !== undefined) requireDuration("timeoutMs", timeoutMs, 1);
  return {
    kind: "function",
    open: ({ timer }) => Promise.resolve(functionMapper(map, options, timer)),
  };
}

export function functionMapper<I, O, S>(
  map: MapFunction<I, O, S>,
  { settings, timeoutMs }: MapOptions<S>,
  timer: Timer,
): Mapper<I, O> {
  return {
    map: (messages, { signal }) => {
      const context = { settings: settings as S, signal };
      let hasPromise = false;
      const results = messages.map((message) => {
        try {
          const answer = map(message, context);
          if (!isThenable(answer)) return toMapped(answer);
          hasPromise = true;
          return settled(answer);
        } catch (thrown) {
          return failureOf(thrown, false);
        }
      });
      if (!hasPromise) return results as readonly Mapped<O>[];
      return timeoutMs === undefined
        ? Promise.all(results)
        : ended(results, { timer, timeoutMs }, (error) => ({ error, isRetriable: true }));
    },
    close: () => Promise.resolve(),
  };
}

export function toMapped<O>(answer: MapAnswer<O>): Mapped<O> {
  if (answer === undefined || answer === null) return [];
  return Array.isArray(answer) ? (answer as readonly Output<O>[]) : [answer as Output<O>];
}

/** `isRetriable` of the error itself wins. */
export function failureOf(thrown: unknown, isRetriable: boolean): MapFailure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const own: unknown = Reflect.get(error, "isRetriable");
  return { error, isRetriable: typeof own === "boolean" ? own : isRetriable };
}

async function settled<O>(answer: PromiseLike<MapAnswer<O>>): Promise<Mapped<O>> {
  try {
    return toMapped(await answer);
  } catch (thrown) {
    return failureOf(thrown, true);
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Promise || typeof Reflect.get(value, "then") === "function";
}
