import { expect, test } from "vitest";
import { RfcLimit } from "./concurrency/rfc/rfc-limit.ts";
import { ConcurrencyLimiter } from "./concurrency/limiter/concurrency-limiter.ts";
import { SluiceLimit } from "./concurrency/sluice/sluice-limit.ts";
import { VectorLimit } from "./concurrency/vector/vector-limit.ts";
import { SluiceError } from "./errors.ts";
import { FairQueue } from "./fair/fair-queue.ts";
import { Ramp } from "./ramp/ramp.ts";
import { SeededRandom } from "./random.ts";
import { CompoundLimiter } from "./rate/compound-limiter.ts";
import { KeyedBuckets } from "./rate/keyed-buckets.ts";
import { MultiLevelLimiter } from "./rate/multi-level-limiter.ts";
import { RateMeter } from "./rate/rate-meter.ts";
import { TokenBucket } from "./rate/token-bucket.ts";
import type { Reason } from "./reason.ts";
import { EpochAccount } from "./share/epoch-account.ts";
import { VirtualClock } from "./testing.ts";

const clock = { now: () => 0 };
const bucket = new TokenBucket({ clock, rate: 10 });
const queue = { quantum: { messages: 1, bytes: 1 }, maxFlows: 1, maxItemsPerFlow: 1 };
const limiter = new CompoundLimiter({ clock, reason: "memory" });
const flow = { id: "a", payer: () => limiter };
const ramp = { min: 1, max: 10, rampUpMs: 1000, mode: { kind: "relaxed" } } as const;
const seat = { poolSize: 1, rank: 0 };
const alone = { ceiling: 1, seat, epoch: 0, division: "floor" } as const;

function failureOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof SluiceError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "none";
}

test.each([
  ["rate", () => new TokenBucket({ clock, rate: 0 })],
  ["rate", () => new TokenBucket({ clock, rate: 0.5 })],
  ["rate", () => new TokenBucket({ clock, rate: 2 ** 54 })],
  ["rate", () => bucket.setRate(Number.NaN)],
  ["periodMs", () => new TokenBucket({ clock, rate: 1, periodMs: 0 })],
  ["periodMs", () => new TokenBucket({ clock, rate: 1, periodMs: 1e12 + 1 })],
  ["capacity", () => new TokenBucket({ clock, rate: 1, capacity: 0 })],
  ["initialTokens", () => new TokenBucket({ clock, rate: 1, initialTokens: -1 })],
  ["targetTokens", () => new TokenBucket({ clock, rate: 1, targetTokens: 0.5 })],
  ["resolutionMs", () => new TokenBucket({ clock, rate: 1, resolutionMs: -1 })],
  ["maxDebt", () => new TokenBucket({ clock, rate: 1, maxDebt: Infinity })],
  ["rate", () => new CompoundLimiter({ clock, reason: "memory", bytes: { rate: -1 } })],
  ["reason", () => new CompoundLimiter({ reason: "slow" as Reason })],
  ["initialTokens", () => new KeyedBuckets({ clock, rate: 1, initialTokens: 2 })],
  ["rate", () => new KeyedBuckets({ clock, rate: 1 }).setRate(0)],
  ["maxBytes", () => new FairQueue({ ...queue, maxBytes: 0 })],
  ["seed", () => new SeededRandom(0.5)],
  ["maxLimit", () => new SluiceLimit({ maxLimit: 1_000_001 })],
  ["mode.kind", () => new Ramp({ ...ramp, mode: { kind: "none" } as never }, { epoch: 0 })],
  ["maxKeys", () => new KeyedBuckets({ clock, rate: 1, maxKeys: 0 })],
  ["slices", () => new RateMeter({ clock, slices: 0 })],
  ["quantum.bytes", () => new FairQueue({ ...queue, quantum: { messages: 1, bytes: 0 } })],
  ["maxFlows", () => new FairQueue({ ...queue, maxFlows: 0 })],
  ["maxItemsPerFlow", () => new FairQueue({ ...queue, maxItemsPerFlow: 0 })],
  ["max", () => new Ramp({ ...ramp, max: 0 }, { epoch: 0 })],
  ["min", () => new Ramp({ ...ramp, min: 11 }, { epoch: 0 })],
  ["rampUpMs", () => new Ramp({ ...ramp, rampUpMs: -1 }, { epoch: 0 })],
  ["rampUpMs", () => new Ramp({ ...ramp, rampUpMs: 1e12 + 1 }, { epoch: 0 })],
  [
    "thresholdPercentage",
    () =>
      new Ramp({ ...ramp, mode: { kind: "onlyIfUsed", thresholdPercentage: 101 } }, { epoch: 0 }),
  ],
  [
    "rank",
    () =>
      new EpochAccount({
        ceiling: 10,
        seat: { poolSize: 2, rank: 2 },
        epoch: 0,
        division: "rotate",
      }),
  ],
  ["left", () => new EpochAccount(alone).resize(seat, 0.5)],
])("a setting that cannot be right is refused by its name, %s", (name, call) => {
  expect(failureOf(call)).toMatch(new RegExp(`^CONFIG: ${name} is `));
});

test.each([
  ['rate is "5"; it must be', () => new TokenBucket({ rate: "5" as never })],
  ['periodMs is "5"; it must be', () => new TokenBucket({ rate: 5, periodMs: "5" as never })],
  ["resolutionMs is null; it", () => new TokenBucket({ rate: 5, resolutionMs: null as never })],
  ['tryAcquire is "5"; use', () => bucket.tryAcquire("5" as never)],
])("text is no number, whatever it says: %s", (found, call) => {
  expect(failureOf(call)).toContain(found);
});

test.each([
  ["a concurrency limiter has no algorithm", () => new ConcurrencyLimiter(undefined as never)],
  ["a ramp has no options", () => new Ramp(undefined as never, { epoch: 0 })],
  ["a ramp has no start", () => new Ramp(ramp, undefined as never)],
  ["a ramp has no mode", () => new Ramp({ ...ramp, mode: undefined as never }, { epoch: 0 })],
])("what a constructor needs and did not get is told with an example: %s", (found, call) => {
  expect(failureOf(call)).toMatch(new RegExp(`^CONFIG: ${found}; use for instance new `));
});

test("the largest count is told only of a value above it", () => {
  expect(failureOf(() => bucket.setRate(0))).toBe(
    "CONFIG: rate is 0; it must be a whole number of at least 1",
  );
  expect(failureOf(() => bucket.setRate(2 ** 54))).toBe(
    "CONFIG: rate is 18014398509481984; it must be a whole number from 1 to 9007199254740992",
  );
});

test.each([RfcLimit, VectorLimit, SluiceLimit])(
  "an option that is undefined has its default: %o",
  (Limit) => {
    const options = { maxLimit: undefined, initialLimit: undefined, ewmaAlpha: undefined };
    expect(new Limit(options as object).limit).toBe(1);
  },
);

test.each([0.5, 1.5])("a rate of %d is refused with the way to write it", (rate) => {
  expect(failureOf(() => new TokenBucket({ rate }))).toContain("{ rate: 1, periodMs: 2000 }");
});

test.each([
  ["count of TokenBucket.charge is 0.5; use", () => bucket.charge(0.5)],
  ["count of TokenBucket.canAcquire is -1; use", () => bucket.canAcquire(-1)],
  ["count of TokenBucket.charge is 18014398509481984; use", () => bucket.charge(2 ** 54)],
  ["bytes of CompoundLimiter.charge is NaN; use", () => limiter.charge(1, Number.NaN)],
  ["messages of CompoundLimiter.canAcquire is -1; use", () => limiter.canAcquire(-1, 0)],
  ["count of RateMeter.record is NaN; use", () => new RateMeter().record(Number.NaN)],
  [
    "cost.messages of FairQueue.admit is -1; use",
    () => new FairQueue(queue).tryPush(flow, 1, { messages: -1, bytes: 0 }),
  ],
  ["epoch is 0.5; use", () => new Ramp(ramp, { epoch: 0 }).enter(0.5, { used: 0, unused: 0 })],
  ["ask of EpochAccount.acquire is -1; use", () => new EpochAccount(alone).acquire(-1)],
  ["tokens of Grant.deposit is 0.5; use", () => new EpochAccount(alone).acquire(1).deposit(0.5)],
  ["ms of VirtualClock.advance is -1; use", () => new VirtualClock().advance(-1)],
])("a wrong argument is refused by value, name and method: %s", (message, call) => {
  expect(failureOf(call)).toMatch(new RegExp(`^INVARIANT: ${message.replaceAll(".", "\\.")}`));
});

test("a wrong cost charges neither messages nor bytes", () => {
  const both = new CompoundLimiter({ clock, messages: { rate: 10 }, bytes: { rate: 10 } });
  const levels = new MultiLevelLimiter([both]);
  for (const each of [both, levels]) {
    for (const call of ["charge", "chargeAndCheck", "tryAcquire"] as const) {
      expect(failureOf(() => each[call](1, Number.NaN))).toMatch(/^INVARIANT: bytes of /);
    }
  }
  expect([both.messages?.tokens(), both.bytes?.tokens()]).toEqual([10, 10]);
});
