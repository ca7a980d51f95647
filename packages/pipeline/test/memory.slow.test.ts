import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { blackhole, generator, pipeline } from "@sluice/pipeline";
import { expect, test } from "vitest";

const MESSAGES = 10_000_000;
const SAMPLE_EVERY = 1_000_000;

// Ten collections of a heap that other tests have filled take a while on a busy machine.
const timeout = 300_000;

test(
  "10 million messages leave the heap as it was after the first million, within 10 %",
  { timeout },
  async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heapBytes: number[] = [];
    const values = (index: number): { readonly order: number } => {
      if (index % SAMPLE_EVERY === 0) {
        collect();
        heapBytes.push(process.memoryUsage().heapUsed);
      }
      return { order: index };
    };
    setFlagsFromString("--no-expose-gc");
    const state = await pipeline("memory", { limits: { rateLimit: { max: 1e9, min: 1e9 } } })
      .source(generator({ values, count: MESSAGES }))
      .map(({ value }) => (value.order % 10 === 0 ? undefined : [{ value }, { value }]))
      .sink(blackhole())
      .run();
    expect(state.vertices.at(-1)?.counts.written).toBe(1.8 * MESSAGES);
    const [, afterFirst = 0, ...later] = heapBytes;
    expect(later).toHaveLength(8);
    expect(Math.max(...later)).toBeLessThanOrEqual(1.1 * afterFirst);
  },
);
