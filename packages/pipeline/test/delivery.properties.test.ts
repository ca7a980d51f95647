import fc from "fast-check";
import { expect, test } from "vitest";
import { FaultyWorld, isPoison, outputsOf } from "./faulty-world.ts";
import type { FaultPlan } from "./faulty-world.ts";

const plans = fc.record<FaultPlan>({
  seed: fc.integer(),
  messages: fc.integer({ min: 1, max: 120 }),
  failing: fc.constantFrom(0, 0.1, 0.4),
  slowMs: fc.constantFrom(0, 5, 60),
  concurrency: fc.integer({ min: 1, max: 4 }),
  readBatchSize: fc.integer({ min: 1, max: 30 }),
  bufferMax: fc.constantFrom(undefined, 1, 7, 40),
  drainMs: fc.constantFrom(0, 1, 50, 10_000),
  rateLimit: fc.constantFrom(undefined, undefined, { max: 200, min: 50 }),
});

test("nothing is lost or acknowledged too early, whatever fails and whenever the pipeline stops", async () => {
  await fc.assert(
    fc.asyncProperty(
      plans,
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 4 }),
      async (plan, stops) => {
        const world = new FaultyWorld(plan);
        for (const stopAfterMs of stops) {
          const running = await world.start();
          await world.timer.advance(stopAfterMs);
          await world.stop(running);
        }
        const running = await world.start();
        const isOver = (): boolean => world.source.acknowledged.length === plan.messages;
        expect(await world.passUntil(isOver)).toBe(true);
        await world.stop(running);

        expect(world.broken).toEqual([]);
        const values = Array.from({ length: plan.messages }, (_, index) => index);
        expect(idsOf(world.source.acknowledged)).toEqual(new Set(values.map(String)));
        const poison = values.filter(isPoison);
        expect(idsOf(world.letters.written)).toEqual(new Set(poison.flatMap(outputsOf)));
        const others = values.filter((value) => !isPoison(value));
        expect(idsOf(world.sink.written)).toEqual(new Set(others.flatMap(outputsOf)));
      },
    ),
    { numRuns: 30 },
  );
});

test("a drain that is long enough finishes everything that was read", async () => {
  await fc.assert(
    fc.asyncProperty(plans, fc.integer({ min: 0, max: 200 }), async (plan, stopAfterMs) => {
      const world = new FaultyWorld({ ...plan, drainMs: 1_000_000 });
      const running = await world.start();
      await world.timer.advance(stopAfterMs);
      await world.stop(running);
      expect(world.broken).toEqual([]);
      expect(running.state().unacknowledged).toBe(0);
      expect(world.source.unacknowledged).toBe(0);
    }),
    { numRuns: 30 },
  );
});

test("with a concurrency of 1 a map's failures do not change the order", async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const world = new FaultyWorld({ ...plan, concurrency: 1 });
      world.sinkFails = false;
      const running = await world.start();
      const isOver = (): boolean => world.source.acknowledged.length === plan.messages;
      expect(await world.passUntil(isOver)).toBe(true);
      await world.stop(running);
      const { values } = world.sink;
      expect(values).toEqual(values.toSorted((a, b) => a - b));
    }),
    { numRuns: 30 },
  );
});

function idsOf(messages: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(messages.map(({ id }) => id));
}
