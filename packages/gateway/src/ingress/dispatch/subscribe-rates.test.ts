import { expect, test } from "vitest";
import {
  dispatchRateOf,
  pulsarDispatchRateOf,
  pulsarSubscribeRateOf,
  subscribeRateOf,
} from "./pulsar-dispatch-rate.ts";
import { SubscribeRates } from "./subscribe-rates.ts";

const A = { topic: "t", host: "10.0.0.1", consumerName: "c", consumerId: 1n };

test("a consumer that subscribes too often is told how long to wait; others are not", () => {
  const rates = new SubscribeRates({ default: { subscribes: 2, periodMs: 10_000 } });
  expect([rates.refuses(A, 0), rates.refuses(A, 1)]).toEqual([undefined, undefined]);
  expect(rates.refuses(A, 2)).toBe(
    "a consumer may subscribe to this topic 2 times in 10 s; try again in 5 s",
  );
  expect(rates.refuses({ ...A, consumerId: 2n }, 2)).toBeUndefined();
  expect(rates.refuses({ ...A, host: "10.0.0.2" }, 2)).toBeUndefined();
  expect(rates.refuses({ ...A, topic: "u" }, 2)).toBeUndefined();
  expect(rates.refuses(A, 5_001)).toBeUndefined();
});

test("a topic's rate goes before its namespace's, and system topics have only their own", () => {
  const rates = new SubscribeRates({
    namespaces: { "public/default": { subscribes: 1 } },
    topics: { free: {} },
  });
  const of = (topic: string): (string | undefined)[] =>
    [0, 0].map(() => rates.refuses({ ...A, topic }, 0));
  expect(of("t")).toEqual([undefined, expect.stringContaining("1 times in 30 s")]);
  expect(of("free")).toEqual([undefined, undefined]);
  expect(of("__change_events")).toEqual([undefined, undefined]);
  rates.unset({ level: "namespace", name: "public/default" });
  expect(of("t")).toEqual([undefined, undefined]);
});

test("consumers beyond 10,000 share one bucket, so that names that are made up take no memory", () => {
  const rates = new SubscribeRates({ default: { subscribes: 1 } });
  for (let i = 0n; i < 10_000n; i++)
    expect(rates.refuses({ ...A, consumerId: i }, 0)).toBeUndefined();
  expect(rates.refuses({ ...A, consumerId: 20_000n }, 0)).toBeUndefined();
  expect(rates.refuses({ ...A, consumerId: 20_001n }, 0)).toBeDefined();
});

test("Pulsar's bodies become rates: 0 and less is no limit, the period holds, relative is refused", () => {
  const body = { dispatchThrottlingRateInMsg: 10, ratePeriodInSecond: 5 };
  const rate = { messages: 10, bytes: undefined, periodMs: 5_000 };
  expect(dispatchRateOf(body)).toEqual(rate);
  expect(pulsarDispatchRateOf(rate)).toEqual({
    dispatchThrottlingRateInMsg: 10,
    dispatchThrottlingRateInByte: -1,
    relativeToPublishRate: false,
    ratePeriodInSecond: 5,
  });
  expect(dispatchRateOf({ dispatchThrottlingRateInMsg: 0 }).messages).toBeUndefined();
  expect(() => dispatchRateOf({ relativeToPublishRate: true })).toThrow("relativeToPublishRate");
  const subscribes = subscribeRateOf({ subscribeThrottlingRatePerConsumer: 3 });
  expect(subscribes).toEqual({ subscribes: 3, periodMs: 30_000 });
  expect(pulsarSubscribeRateOf(subscribes)).toEqual({
    subscribeThrottlingRatePerConsumer: 3,
    ratePeriodInSecond: 30,
  });
});
