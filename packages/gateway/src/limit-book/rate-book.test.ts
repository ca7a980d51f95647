import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { DispatchLimits } from "../ingress/dispatch/dispatch-limits.ts";
import { SUBSCRIBE_RATES_MAX, SubscribeRates } from "../ingress/dispatch/subscribe-rates.ts";
import type { BrokerEvent } from "../observe/broker-event.ts";
import { PolicyBook } from "../policy/policy-book.ts";
import { MemoryDocumentStore } from "../storage/document/memory-document-store.ts";
import { createDispatchBook } from "./dispatch-book.ts";
import type { DispatchBook } from "./dispatch-book.ts";
import { DISPATCH_RATE, SUBSCRIBE_RATE } from "./dispatch-policies.ts";
import { createSubscribeBook } from "./subscribe-book.ts";
import type { SubscribeBook } from "./subscribe-book.ts";

const WALL_MS = 1_780_000_000_000;

interface Scene {
  readonly dispatch: DispatchBook;
  readonly subscribe: SubscribeBook;
  readonly policies: PolicyBook;
  readonly events: BrokerEvent[];
}

async function open(documents = new Map<string, Uint8Array>()): Promise<Scene> {
  const wallClock = { now: () => WALL_MS };
  const policies = await PolicyBook.open(new MemoryDocumentStore(documents), "c", wallClock);
  const events: BrokerEvent[] = [];
  const observe = (event: BrokerEvent): void => void events.push(event);
  const world = { policies, clock: new VirtualTimer(), observe };
  return {
    dispatch: createDispatchBook(new DispatchLimits({ topicDefault: { messages: 9 } }), world),
    subscribe: createSubscribeBook(new SubscribeRates(), world),
    policies,
    events,
  };
}

function documentsWith(record: object): Map<string, Uint8Array> {
  return new Map([["policy-namespace public/default", Buffer.from(JSON.stringify(record))]]);
}

test("a rate that was set holds after a restart, with its time, and the one of the start after that", async () => {
  const documents = new Map<string, Uint8Array>();
  const target = { level: "default" } as const;
  await (await open(documents)).dispatch.set(target, { messages: 5 });
  const { dispatch, events } = await open(documents);
  expect(dispatch.get(target)).toMatchObject({
    rate: { messages: 5 },
    source: "live",
    setAtMs: WALL_MS,
  });
  expect(events).toEqual([]);
  expect(await dispatch.unset(target)).toMatchObject({ messages: 9 });
  await expect(dispatch.unset(target)).rejects.toThrow(/started with; set another one/);
});

test("a policy that cannot be applied is refused before it is stored", async () => {
  const { policies, dispatch, events } = await open();
  const place = { namespace: "public/default" };
  const value = { dispatchThrottlingRateInMsg: 1.5, ratePeriodInSecond: 1 };
  await expect(policies.setPolicy(place, DISPATCH_RATE, value)).rejects.toThrow(/1\.5; it must be/);
  expect(policies.policiesAt(place).policies).toEqual({});
  expect(dispatch.list()).toHaveLength(1);
  expect(events).toEqual([]);
});

test("a stored policy that cannot be applied is left out and told once; the others hold", async () => {
  const policies = {
    [DISPATCH_RATE]: { dispatchThrottlingRateInMsg: 1.5 },
    [SUBSCRIBE_RATE]: { subscribeThrottlingRatePerConsumer: 3 },
  };
  const documents = documentsWith({ policies, permissions: {}, topics: {} });
  const { dispatch, subscribe, events, policies: book } = await open(documents);
  expect(dispatch.list()).toHaveLength(1);
  expect(subscribe.list()).toMatchObject([{ rate: { subscribes: 3 }, source: "policy" }]);
  await book.setPolicy({ namespace: "public/default" }, "messageTTL", 60);
  expect(events).toMatchObject([
    {
      kind: "error",
      error: {
        message: expect.stringMatching(
          /stored dispatch rate of namespace public\/default/,
        ) as string,
      },
    },
  ]);
});

test("one rate more than the maximum is refused, and nothing of it is stored", async () => {
  const set = { policies: { [SUBSCRIBE_RATE]: { subscribeThrottlingRatePerConsumer: 1 } } };
  const topics = Object.fromEntries(
    Array.from({ length: SUBSCRIBE_RATES_MAX }, (_, index) => [
      `persistent://public/default/t${index}`,
      { ...set, permissions: {} },
    ]),
  );
  const { subscribe } = await open(documentsWith({ policies: {}, permissions: {}, topics }));
  const one = { level: "topic", name: "one-more" } as const;
  await expect(subscribe.set(one, { subscribes: 1 })).rejects.toThrow(/the maximum; remove one/);
  expect(subscribe.get(one)).toBeUndefined();
  await subscribe.set({ level: "topic", name: "t5" }, { subscribes: 2 });
  await subscribe.unset({ level: "topic", name: "t6" });
  await subscribe.set(one, { subscribes: 1 });
  expect(subscribe.get(one)).toMatchObject({ source: "policy" });
});
