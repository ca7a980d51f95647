import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import type { PipelineState, RunningPipeline } from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import { expect, test } from "vitest";
import { SupervisedPipeline } from "./supervised-pipeline.ts";
import type { StartPipeline } from "./supervised-pipeline.ts";

const STOPPED: PipelineState = { name: "p", status: "stopped", unacknowledged: 0, vertices: [] };

/** A pipeline that is stopped while it takes limits that were set during its start. Answers the failures that it told. */
async function stoppedDuringChanges(drain: () => Promise<PipelineState>): Promise<unknown[]> {
  const timer = new VirtualTimer();
  const failures: unknown[] = [];
  const start: StartPipeline = (_, { signal }) => {
    const running: Partial<RunningPipeline> = {
      state: () => STOPPED,
      setLimits: () =>
        new Promise((__, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        }),
      stop: drain,
    };
    return timer.sleep(1000).then(() => running as RunningPipeline);
  };
  const pipeline = new SupervisedPipeline({
    name: "p",
    define: () =>
      Promise.resolve({
        name: "p",
        source: { name: "in", source: new MemorySource([]) },
        maps: [],
        sink: { name: "out", sink: new MemorySink() },
      }),
    start,
    runtime: {},
    timer,
    random: new SeededRandom(1),
    onFailure: (error, nextInMs) => failures.push([error.message, nextInMs]),
  });
  await timer.advance(500);
  await pipeline.setLimits("in", { concurrency: 4 });
  await timer.advance(1000);
  await pipeline.stop();
  expect(pipeline.status).toBe("stopped");
  return failures;
}

test("a stop while limits of the start are taken is no failure", async () => {
  expect(await stoppedDuringChanges(() => Promise.resolve(STOPPED))).toEqual([]);
});

test("a drain that fails after such a stop is told", async () => {
  const failures = await stoppedDuringChanges(() => Promise.reject(new Error("the disk is full")));
  expect(failures).toEqual([["the disk is full", undefined]]);
});
