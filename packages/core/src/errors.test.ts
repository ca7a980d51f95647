import { expect, test } from "vitest";
import { SluiceError } from "./errors.ts";
import { FairQueue } from "./fair/fair-queue.ts";
import { Ramp } from "./ramp/ramp.ts";
import { CompoundLimiter } from "./rate/compound-limiter.ts";
import { KeyedBuckets } from "./rate/keyed-buckets.ts";
import { RateMeter } from "./rate/rate-meter.ts";
import { TokenBucket } from "./rate/token-bucket.ts";
import { EpochAccount } from "./share/epoch-account.ts";

const clock = { now: () => 0 };
const bucket = new TokenBucket(clock, { rate: 10 });
const queue = { quantum: { messages: 1, bytes: 1 }, maxFlows: 1, maxItemsPerFlow: 1 };
const flow = { id: "a", purse: new CompoundLimiter(clock, "memory", {}) };
const ramp = { min: 1, max: 10, rampUpMs: 1000, mode: { kind: "relaxed" } } as const;
const alone = { poolSize: 1, rank: 0 };

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
  ["rate", () => new TokenBucket(clock, { rate: 0 })],
  ["rate", () => new TokenBucket(clock, { rate: 0.5 })],
  ["rate", () => new TokenBucket(clock, { rate: 2 ** 54 })],
  ["rate", () => bucket.setRate(Number.NaN)],
  ["periodMs", () => new TokenBucket(clock, { rate: 1, periodMs: 0 })],
  ["periodMs", () => new TokenBucket(clock, { rate: 1, periodMs: 1e12 + 1 })],
  ["capacity", () => new TokenBucket(clock, { rate: 1, capacity: 0 })],
  ["initialTokens", () => new TokenBucket(clock, { rate: 1, initialTokens: -1 })],
  ["targetTokens", () => new TokenBucket(clock, { rate: 1, targetTokens: 0.5 })],
  ["resolutionMs", () => new TokenBucket(clock, { rate: 1, resolutionMs: -1 })],
  ["maxDebt", () => new TokenBucket(clock, { rate: 1, maxDebt: Infinity })],
  ["rate", () => new CompoundLimiter(clock, "memory", { bytes: { rate: -1 } })],
  ["maxKeys", () => new KeyedBuckets(clock, { rate: 1, maxKeys: 0 })],
  ["slices", () => new RateMeter(clock, { slices: 0 })],
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
  ["rank", () => new EpochAccount(10, { poolSize: 2, rank: 2 }, 0, "rotate")],
  ["left", () => new EpochAccount(1, alone, 0, "floor").resize(alone, 0.5)],
])("a setting that cannot be right is refused by its name, %s", (name, call) => {
  expect(failureOf(call)).toMatch(new RegExp(`^CONFIG: ${name} is `));
});

test.each([
  ["a charge of a fraction", () => bucket.charge(0.5)],
  ["a charge below zero", () => bucket.chargeAndCheck(-1)],
  ["a charge that cannot be counted", () => bucket.charge(2 ** 54)],
  ["a pause until no number", () => bucket.pauseMs(Number.NaN)],
  ["a cost below zero", () => new FairQueue(queue).tryPush(flow, 1, { messages: -1, bytes: 0 })],
  ["half an epoch", () => new Ramp(ramp, { epoch: 0 }).enter(0.5, { used: 0, unused: 0 })],
  ["an ask below zero", () => new EpochAccount(1, alone, 0, "floor").acquire(-1)],
  ["half a token given back", () => new EpochAccount(1, alone, 0, "floor").acquire(1).deposit(0.5)],
])("%s is a mistake in a program", (_, call) => {
  expect(failureOf(call)).toMatch(/^INVARIANT: /);
});
