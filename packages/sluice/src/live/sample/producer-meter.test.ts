import type { PublishingFlow, PublishingProducer } from "@sluice/gateway/admin";
import { expect, test } from "vitest";
import { ProducerMeters } from "./producer-meter.ts";

const LEVEL = { name: "topic", reason: "topic-rate", limit: { messages: 100 } } as const;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function producer(): {
  readonly flow: Mutable<PublishingFlow>;
  readonly producer: PublishingProducer;
} {
  const flow: Mutable<PublishingFlow> = {
    facts: { topic: "persistent://public/default/t", producer: "p", address: "127.0.0.1:1" },
    limits: { topic: { key: "persistent://public/default/t" }, levelsAt: () => [LEVEL] },
    isAware: false,
    level: undefined,
    offeredMessages: 0,
    offeredBytes: 0,
    released: 0,
    heldFrames: 0,
    heldMessages: 0,
    heldCostBytes: 0,
    heldBytes: 0,
    account: { state: { bytes: 0, maxBytes: 1 } },
    watch: undefined,
  };
  return { flow, producer: { flow, aware: undefined } };
}

test("a free producer asks for what it sends, which is what it gets", () => {
  const { flow, producer: one } = producer();
  const meters = new ProducerMeters();
  meters.sample([one], 0);
  flow.offeredMessages = 50;
  flow.offeredBytes = 5_000;
  expect(meters.sample([one], 500)[0]).toMatchObject({
    rate: 100,
    byteRate: 10_000,
    asked: 100,
    isAskedAtLeast: false,
  });
});

test("a producer that is held asks for at least its last free rate, however little it gets", () => {
  const { flow, producer: one } = producer();
  const meters = new ProducerMeters();
  meters.sample([one], 0);
  flow.offeredMessages = 150;
  meters.sample([one], 500);
  for (let nowMs = 1_000; nowMs <= 10_000; nowMs += 500) {
    flow.offeredMessages += 25;
    flow.level = LEVEL;
    flow.heldMessages = 30;
    const [meter] = meters.sample([one], nowMs);
    expect(meter).toMatchObject({ asked: 300, isAskedAtLeast: true, reason: "topic-rate" });
  }
  for (let nowMs = 10_500; nowMs < 13_000; nowMs += 500) meters.sample([one], nowMs);
  expect(meters.sample([one], 13_000)[0]?.rate).toBe(0);
});

test("a burst after a pause does not count as what a producer asks for", () => {
  const { flow, producer: one } = producer();
  const meters = new ProducerMeters();
  meters.sample([one], 0);
  flow.offeredMessages = 100;
  meters.sample([one], 500);
  flow.level = LEVEL;
  meters.sample([one], 1_000);
  flow.offeredMessages += 200;
  expect(meters.sample([one], 1_500)[0]?.asked).toBeLessThan(210);
});

test("a producer that starts faster than its limit asks for at least the rate at which it ran into the limit", () => {
  const { flow, producer: one } = producer();
  const meters = new ProducerMeters();
  for (let nowMs = 0; nowMs <= 5_000; nowMs += 500) meters.sample([one], nowMs);
  // 2,400/s for a second, then its window is full and it sends 100/s, as fast as it is served.
  flow.level = LEVEL;
  flow.offeredMessages += 1_200;
  meters.sample([one], 5_500);
  flow.offeredMessages += 1_200;
  meters.sample([one], 6_000);
  for (let nowMs = 6_500; nowMs <= 60_000; nowMs += 500) {
    flow.offeredMessages += 50;
    expect(meters.sample([one], nowMs)[0]).toMatchObject({ asked: 2_400, isAskedAtLeast: true });
  }
});

test("a producer is free again a second after its last wait", () => {
  const { flow, producer: one } = producer();
  const meters = new ProducerMeters();
  meters.sample([one], 0);
  flow.offeredMessages = 500;
  meters.sample([one], 500);
  flow.level = LEVEL;
  meters.sample([one], 1_000);
  flow.level = undefined;
  flow.offeredMessages += 10;
  expect(meters.sample([one], 1_500)[0]).toMatchObject({ asked: 1_000, isAskedAtLeast: true });
  flow.offeredMessages += 10;
  expect(meters.sample([one], 2_000)[0]).toMatchObject({ asked: 20, isAskedAtLeast: false });
});

test("what a producer gets in lumps is a steady rate", () => {
  const { flow, producer: one } = producer();
  const meters = new ProducerMeters();
  meters.sample([one], 0);
  const rates: (number | undefined)[] = [];
  for (let nowMs = 500; nowMs <= 10_000; nowMs += 500) {
    if (nowMs % 1_000 === 0) flow.offeredMessages += 80;
    rates.push(meters.sample([one], nowMs)[0]?.rate);
  }
  expect(new Set(rates.slice(6))).toEqual(new Set([80]));
});

test("producers that have gone are forgotten", () => {
  const meters = new ProducerMeters();
  meters.sample([producer().producer, producer().producer], 0);
  expect(meters.sample([], 500)).toEqual([]);
});
