import { TokenBucket } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SharedBucket } from "./shared-bucket.ts";
import type { SharedBucketOptions } from "./settings.ts";

const THREADS = 4;
const RUNS = { numRuns: 500 };

const options = fc.record({
  rate: fc.integer({ min: 1, max: 5000 }),
  periodMs: fc.constantFrom(1000, 700),
  capacity: fc.integer({ min: 1, max: 500 }),
});
const resolutionMs = fc.constantFrom(0, 1, 16);

/** Tenths of a millisecond, mostly around the resolution. */
const waitMs = fc
  .oneof(fc.constant(0), fc.nat(30), fc.nat(400), fc.nat(20_000))
  .map((tenths) => tenths / 10);
const thread = fc.nat(THREADS - 1);
const count = fc.oneof(fc.nat(3), fc.nat(300), fc.nat(600));
const act = fc.constantFrom("acquire", "acquire", "acquire", "flush", "reattach");
const step = fc.record({ waitMs, thread, count, act });
const steps = fc.array(step, { minLength: 1, maxLength: 60 });

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** All threads of a bucket in one. */
class Crew {
  readonly clock: VirtualClock = new VirtualClock();
  readonly threads: SharedBucket[];

  constructor(settings: SharedBucketOptions) {
    const { clock } = this;
    const first = SharedBucket.create({ ...settings, clock });
    this.threads = [first];
    while (this.threads.length < THREADS) this.#attach(this.threads.length);
  }

  at(index: number): SharedBucket {
    return this.threads[index] as SharedBucket;
  }

  /** The tokens that the step was granted. */
  perform({ waitMs: ms, thread: index, count: wanted, act: what }: Step): number {
    this.clock.advance(ms);
    if (what === "acquire") return this.at(index).tryAcquire(wanted) ? wanted : 0;
    if (what === "flush") this.at(index).flush();
    else {
      this.at(index).release();
      this.#attach(index);
    }
    return 0;
  }

  #attach(index: number): void {
    const { handle } = this.at(0);
    this.threads[index] = SharedBucket.attach(handle, { clock: this.clock });
  }
}

function brought({ rate, periodMs }: { rate: number; periodMs: number }, tenths: number): number {
  return (rate * tenths) / (periodMs * 10);
}

test("over any stretch all threads are granted at most the capacity and what its time brings", () => {
  fc.assert(
    fc.property(options, resolutionMs, steps, (settings, resolution, history) => {
      const crew = new Crew({ ...settings, resolutionMs: resolution });
      const grants: { tenths: number; granted: number }[] = [];
      for (const one of history) {
        const granted = crew.perform(one);
        grants.push({ tenths: Math.round(crew.clock.now() * 10), granted });
      }
      for (const [first, { tenths }] of grants.entries()) {
        let sum = 0;
        for (const last of grants.slice(first)) {
          sum += last.granted;
          const most = settings.capacity + Math.ceil(brought(settings, last.tenths - tenths));
          expect(sum).toBeLessThanOrEqual(most);
        }
      }
      const total = grants.reduce((sum, { granted }) => sum + granted, 0);
      const tenths = Math.round(crew.clock.now() * 10);
      expect(total + crew.at(0).balance()).toBeLessThanOrEqual(
        settings.capacity + Math.floor(brought(settings, tenths)),
      );
    }),
    RUNS,
  );
});

test("with a resolution of 0 many threads have together what one exact bucket gives", () => {
  const charging = fc.array(fc.record({ waitMs, thread, count, charges: fc.boolean() }));
  fc.assert(
    fc.property(options, charging, (settings, history) => {
      const crew = new Crew({ ...settings, resolutionMs: 0 });
      const { capacity } = settings;
      const bucket = new TokenBucket({
        ...settings,
        clock: crew.clock,
        initialTokens: capacity,
        resolutionMs: 0,
      });
      for (const one of history) {
        crew.clock.advance(one.waitMs);
        const mine = crew.at(one.thread);
        if (one.charges) {
          mine.charge(one.count);
          bucket.chargeAndCheck(one.count);
        } else if (one.count > 0 && one.count <= capacity) {
          expect(mine.tryAcquire(one.count)).toBe(bucket.tryAcquire(one.count));
        }
        expect(mine.balance()).toBe(bucket.tokens());
      }
    }),
    RUNS,
  );
});

test("while time stands still no move loses a token or makes one", () => {
  fc.assert(
    fc.property(options, resolutionMs, steps, (settings, resolution, history) => {
      const crew = new Crew({ ...settings, resolutionMs: resolution });
      let total = 0;
      for (const one of history) {
        total += crew.perform({ ...one, waitMs: 0 });
        expect(total + crew.at(one.thread).balance()).toBe(settings.capacity);
      }
    }),
    RUNS,
  );
});

test("what is there is granted to whoever asks, and what is not to nobody", () => {
  fc.assert(
    fc.property(options, resolutionMs, steps, (settings, resolution, history) => {
      const crew = new Crew({ ...settings, resolutionMs: resolution });
      for (const one of history) {
        crew.perform(one);
        const balance = crew.at(0).balance();
        const asked = one.count % 2 === 0 ? balance : balance + 1;
        expect(crew.at(one.thread).tryAcquire(asked)).toBe(asked === balance);
      }
    }),
    RUNS,
  );
});

test("whoever waits for a pause finds the tokens, and a nanosecond earlier does not", () => {
  fc.assert(
    fc.property(options, resolutionMs, steps, (settings, resolution, history) => {
      const crew = new Crew({ ...settings, resolutionMs: resolution });
      for (const one of history) {
        crew.perform(one);
        const until = Math.min(one.count, settings.capacity);
        const pauseMs = crew.at(one.thread).pauseMs(until);
        if (pauseMs === 0) continue;
        if (one.count % 2 === 0) crew.clock.advance(pauseMs - 1e-6);
        else crew.clock.advance(pauseMs);
        expect(crew.at(0).tryAcquire(until)).toBe(one.count % 2 !== 0);
      }
    }),
    RUNS,
  );
});

test("asked all the time it gives its whole rate, but for what the first gap may lose", () => {
  fc.assert(
    fc.property(options, fc.nat(16), (settings, resolution) => {
      const crew = new Crew({ ...settings, resolutionMs: resolution });
      let total = 0;
      const stepMs = (settings.capacity * settings.periodMs) / settings.rate / 8;
      for (let i = 0; i < 2000; i++) {
        crew.clock.advance(stepMs);
        while (crew.at(i % THREADS).tryAcquire(1)) total++;
      }
      const elapsedMs = crew.clock.now();
      crew.clock.advance(resolution + stepMs);
      const rest = crew.at(0).balance();
      const most = settings.capacity + (settings.rate * elapsedMs) / settings.periodMs;
      expect(total).toBeLessThanOrEqual(most);
      const stepTokens = (settings.rate * (resolution + stepMs)) / settings.periodMs;
      expect(total + rest).toBeGreaterThanOrEqual(most - 2 * stepTokens - 2);
    }),
    { numRuns: 20 },
  );
});
