import type { Timer } from "@sluice/core";
import { requireDuration } from "@sluice/core/internal";
import { shown } from "../connector/check-options.ts";
import type { Message } from "../message.ts";
import type { MapConnector } from "./map-connector.ts";
import { failureOf, toMapped } from "./map-function.ts";
import type { MapAnswer, MapContext, MapOptions } from "./map-function.ts";
import type { Mapped, Mapper } from "./mapper.ts";
import { ended } from "./time-limit.ts";

/** One answer for each message, in their order. */
export type MapBatchFunction<I = unknown, O = unknown, S = unknown> = (
  messages: readonly Message<I>[],
  context: MapContext<S>,
) => readonly MapAnswer<O>[] | Promise<readonly MapAnswer<O>[]>;

/**
 * A map of whole batches, in this process, such as one query for 500 keys. What it throws is a failure of every
 * message of the batch; before such messages are given up, each is tried alone.
 */
export function mapBatch<I, O, S = unknown>(
  map: MapBatchFunction<I, O, S>,
  options: MapOptions<S> = {},
): MapConnector<I, O> {
  const { timeoutMs } = options;
  if (timeoutMs !== undefined) requireDuration("timeoutMs", timeoutMs, 1);
  return { kind: "batch", open: ({ timer }) => Promise.resolve(batchMapper(map, options, timer)) };
}

export function batchMapper<I, O, S>(
  map: MapBatchFunction<I, O, S>,
  { settings, timeoutMs }: MapOptions<S>,
  timer: Timer,
): Mapper<I, O> {
  return {
    map: (messages, { signal }) => {
      const failed = (thrown: unknown): readonly Mapped<O>[] => {
        const failure = failureOf(thrown, true);
        return messages.map(() => failure);
      };
      try {
        const answers = map(messages, { settings: settings as S, signal });
        if (!(answers instanceof Promise)) return allMapped(answers);
        const mapped = answers.then(allMapped).catch(failed);
        if (timeoutMs === undefined) return mapped;
        return ended([mapped], { timer, timeoutMs }, failed).then(([only]) => only ?? []);
      } catch (thrown) {
        return failed(thrown);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** A caller without types may answer anything. */
function allMapped<O>(answers: readonly MapAnswer<O>[]): readonly Mapped<O>[] {
  if (Array.isArray(answers)) return answers.map((answer: MapAnswer<O>) => toMapped(answer));
  const text = `a batch map answered ${shown(answers)}; it must answer a list with one answer for each message`;
  throw Object.assign(new TypeError(text), { isRetriable: false });
}
