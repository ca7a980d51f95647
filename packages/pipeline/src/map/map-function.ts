import type { Timer } from "@sluice/core";
import { requireDuration } from "@sluice/core/internal";
import { asError } from "../as-error.ts";
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
      const mapped: Mapped<O>[] = [];
      const pending: Pending<O>[] = [];
      for (let index = 0; index < messages.length; index++) {
        try {
          const answer = map(messages[index] as Message<I>, context);
          if (isThenable(answer)) pending.push({ index, result: settled(answer) });
          else mapped[index] = toMapped(answer);
        } catch (thrown) {
          mapped[index] = failureOf(thrown, false);
        }
      }
      return pending.length === 0 ? mapped : filled(mapped, pending, timeoutMs, timer);
    },
    close: () => Promise.resolve(),
  };
}

interface Pending<O> {
  readonly index: number;
  readonly result: Promise<Mapped<O>>;
}

/** Puts the results of promises into their places. */
async function filled<O>(
  mapped: Mapped<O>[],
  pending: readonly Pending<O>[],
  timeoutMs: number | undefined,
  timer: Timer,
): Promise<readonly Mapped<O>[]> {
  const promises = pending.map(({ result }) => result);
  const results = await (timeoutMs === undefined
    ? Promise.all(promises)
    : ended(promises, { timer, timeoutMs }, (error) => ({ error, isRetriable: true })));
  for (const [place, { index }] of pending.entries()) mapped[index] = results[place] as Mapped<O>;
  return mapped;
}

/** A caller without types may answer null. */
export function toMapped<O>(answer: MapAnswer<O> | null): Mapped<O> {
  if (answer === undefined || answer === null) return [];
  return isList(answer) ? answer : [answer];
}

function isList<O>(answer: Output<O> | readonly Output<O>[]): answer is readonly Output<O>[] {
  return Array.isArray(answer);
}

/** `isRetriable` of the error itself wins. */
export function failureOf(thrown: unknown, isRetriable: boolean): MapFailure {
  const error = asError(thrown);
  try {
    const own: unknown = Reflect.get(error, "isRetriable");
    return { error, isRetriable: typeof own === "boolean" ? own : isRetriable };
  } catch {
    return { error, isRetriable };
  }
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
