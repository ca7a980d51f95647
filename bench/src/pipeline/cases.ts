import { blackhole, generator, pipeline } from "@sluice/pipeline";
import type { PipelineMiddle, PipelineOptions } from "@sluice/pipeline";
import type { Loop } from "../measure.ts";

/** Limits that are never reached: 10^9 messages a second for every vertex. */
const FAR_ABOVE: PipelineOptions = { limits: { rateLimit: { max: 1e9, min: 1e9 } } };

type AddMap = (source: PipelineMiddle<number>) => PipelineMiddle<number>;

interface Case {
  readonly label: string;
  /** Messages a second of one core, at least. */
  readonly goal: number;
  readonly addMap: AddMap;
}

/** One map each, between a generator and a blackhole. */
export const CASES: Readonly<Record<string, Case>> = {
  batch: {
    label: "map of batches",
    goal: 500_000,
    addMap: (source) =>
      source.mapBatch((messages) => messages.map(({ value }) => ({ value: value * 2 }))),
  },
  each: {
    label: "map of each message",
    goal: 150_000,
    addMap: (source) => source.map(({ value }) => ({ value: value * 2 })),
  },
  async: {
    label: "async map of each message",
    goal: 150_000,
    addMap: (source) => source.map(({ value }) => Promise.resolve({ value: value * 2 })),
  },
};

/** A pipeline of `count` messages, without limits or with limits that are never reached. */
export function loopOf(addMap: AddMap, isLimited: boolean): Loop {
  return async (count) => {
    const source = generator({ values: (index) => index, count });
    const started = pipeline("bench", isLimited ? FAR_ABOVE : {}).source(source);
    const { vertices } = await addMap(started).sink(blackhole()).run();
    return vertices.at(-1)?.counts.written ?? 0;
  };
}

/** What the same messages and outputs cost without a pipeline. */
export const bareLoop: Loop = (count) => {
  const batchSize = 500;
  let written = 0;
  for (let from = 0; from < count; from += batchSize) {
    const messages = Array.from({ length: Math.min(batchSize, count - from) }, (_, index) => ({
      id: String(from + index),
      value: from + index,
      headers: {},
    }));
    const outputs = messages.map((message) => ({ ...message, value: message.value * 2 }));
    written += outputs.filter(({ value }) => value >= 0).length;
  }
  return written;
};
