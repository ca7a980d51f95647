import { VirtualClock } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { afterSteps, runInterleaved } from "../../test/threads-interleaved.ts";
import { SharedBucket } from "./shared-bucket.ts";
import type { SharedBucketOptions } from "./settings.ts";

const THREADS = 4;

/** Tenths of a millisecond, mostly around the resolution and often none. */
const waitMs = fc
  .oneof(fc.constant(0), fc.constant(0), fc.nat(30), fc.nat(400))
  .map((tenths) => tenths / 10);

const call = fc.record({
  after: afterSteps,
  waitMs,
  thread: fc.nat(THREADS - 1),
  count: fc.oneof(fc.nat(3), fc.nat(60), fc.nat(200)),
  act: fc.constantFrom("acquire", "acquire", "acquire", "acquire", "flush", "balance"),
});
const calls = fc.array(call, { minLength: 2, maxLength: 60 });

type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

/** What threads that interrupt each other were granted, and in which time. */
class Crowd {
  readonly clock: VirtualClock = new VirtualClock();
  readonly grants: { fromTenths: number; toTenths: number; count: number }[] = [];
  readonly threads: readonly SharedBucket[];

  constructor(options: SharedBucketOptions, waiting: readonly Call[]) {
    const { clock } = this;
    const first = SharedBucket.create({ ...options, clock });
    const attach = (): SharedBucket => SharedBucket.attach(first.handle, { clock });
    this.threads = [first, ...Array.from({ length: THREADS - 1 }, attach)];
    runInterleaved(waiting, (one) => this.#perform(one));
  }

  at(thread: number): SharedBucket {
    return this.threads[thread] as SharedBucket;
  }

  #perform({ thread, waitMs: ms, count, act }: Call): void {
    const bucket = this.at(thread);
    this.clock.advance(ms);
    const fromTenths = this.#tenths();
    if (act === "flush") bucket.flush();
    else if (act === "balance") bucket.balance();
    else if (bucket.tryAcquire(count)) {
      this.grants.push({ fromTenths, toTenths: this.#tenths(), count });
    }
  }

  #tenths(): number {
    return Math.round(this.clock.now() * 10);
  }
}

const options = fc.record({
  rate: fc.integer({ min: 1, max: 5000 }),
  capacity: fc.integer({ min: 1, max: 200 }),
  resolutionMs: fc.constantFrom(0, 1, 16),
});

test("over any stretch the grants within it are at most the capacity and what its time brings", () => {
  fc.assert(
    fc.property(options, calls, (settings, waiting) => {
      const { grants } = new Crowd(settings, waiting);
      for (const { fromTenths } of grants) {
        for (const { toTenths } of grants) {
          const within = grants.filter(
            (one) => one.fromTenths >= fromTenths && one.toTenths <= toTenths,
          );
          const sum = within.reduce((all, one) => all + one.count, 0);
          const brought = Math.ceil((settings.rate * (toTenths - fromTenths)) / 10_000);
          expect(sum).toBeLessThanOrEqual(settings.capacity + Math.max(brought, 0));
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test("when all have ended no token is lost, none is new, and any of them may have the rest", () => {
  fc.assert(
    fc.property(options, calls, fc.nat(THREADS - 1), (settings, waiting, thread) => {
      const still = waiting.map((one) => ({ ...one, waitMs: 0 }));
      const { grants, threads } = new Crowd(settings, still);
      const total = grants.reduce((all, one) => all + one.count, 0);
      const rest = settings.capacity - total;
      expect(threads.map((bucket) => bucket.balance())).toEqual(threads.map(() => rest));
      expect(threads[thread]?.tryAcquire(rest)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("however they met, a bucket left alone is full in the end", () => {
  fc.assert(
    fc.property(options, calls, (settings, waiting) => {
      const crowd = new Crowd(settings, waiting);
      crowd.clock.advance(3_600_000);
      expect(crowd.at(0).balance()).toBe(settings.capacity);
    }),
    { numRuns: 1000 },
  );
});

test("who is refused while tokens are on the move is not refused once they have arrived", () => {
  const clock = new VirtualClock();
  const answers = new Set<string>();
  for (let after = 0; after < 40; after++) {
    const first = SharedBucket.create({ rate: 100, clock });
    const second = SharedBucket.attach(first.handle, { clock });
    first.tryAcquire(1);
    let refused = false;
    const flush = { after: 0, thread: 0, run: () => first.flush() };
    const ask = { after, thread: 1, run: () => (refused = !second.tryAcquire(99)) };
    runInterleaved([flush, ask], ({ run }) => run());
    answers.add(`${refused}, then ${second.tryAcquire(99)}`);
  }
  expect([...answers].toSorted()).toEqual(["false, then false", "true, then true"]);
});
