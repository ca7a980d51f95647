import assert from "node:assert/strict";
import { VirtualTimer } from "@sluice/core/testing";
import { pipeline } from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";

const timer = new VirtualTimer();
const source = new MemorySource([1, 2, 3, 4], { isEndless: true });
let failures = 1;
const sink = new MemorySink<number>({
  onWrite: () => {
    if (failures-- > 0) throw new Error("the service is away");
  },
});

const running = await pipeline("doubled")
  .source(source)
  .map(({ value }) => ({ value: value * 2 }))
  .sink(sink)
  .start({ timer });
await timer.advance(1000); // the second try is made after 50 to 100 ms

assert.deepEqual(sink.values, [2, 4, 6, 8]);
assert.equal(source.acknowledged.length, 4);
await running.stop();
