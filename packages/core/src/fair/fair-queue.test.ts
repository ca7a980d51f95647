import fc from "fast-check";
import { expect, test } from "vitest";
import { CompoundLimiter } from "../rate/compound-limiter.ts";
import { VirtualClock } from "../testing.ts";
import { FairQueue } from "./fair-queue.ts";
import type { Cost, FairQueueOptions, Flow, Payer } from "./fair-queue.ts";

interface Item {
  readonly flowId: string;
  readonly number: number;
  readonly cost: Cost;
}

const ROOMY = { maxFlows: 1000, maxItemsPerFlow: 1000, maxBytes: 2 ** 53 };
const UNIT: Cost = { messages: 1, bytes: 0 };

/** Pays for as many releases as it is told to, and keeps count of what it was charged. */
class CountingPayer implements Payer {
  readonly charged: Cost[] = [];
  releases = 0;

  canAcquire(): boolean {
    return this.releases > 0;
  }

  pauseMs(): number {
    return this.releases > 0 ? 0 : 1000;
  }

  charge(messages: number, bytes: number): void {
    this.releases--;
    this.charged.push({ messages, bytes });
  }
}

/** A queue whose flows all have one payer. */
class SharedQueue<T> {
  readonly payer = new CountingPayer();
  readonly queue: FairQueue<T>;

  constructor(options: FairQueueOptions) {
    this.queue = new FairQueue(options);
  }

  get size(): number {
    return this.queue.size;
  }

  tryPush(id: string, item: T, itemCost: Cost): boolean {
    return this.queue.tryPush({ id, payer: () => this.payer }, item, itemCost);
  }

  /** Releases `count` items, or as many as wait. */
  take(count: number): T[] {
    this.payer.releases = count;
    return this.queue.release(0);
  }
}

const flowId = fc.constantFrom("a", "b", "c", "d", "e");
const cost: fc.Arbitrary<Cost> = fc.record({
  messages: fc.integer({ min: 1, max: 30 }),
  bytes: fc.nat(3000),
});

test("nothing is lost, doubled or charged wrongly, and a flow's items keep their order", () => {
  const push = fc.record({ do: fc.constant("push" as const), flowId, cost });
  const release = fc.record({ do: fc.constant("release" as const), count: fc.nat(10) });
  const remove = fc.record({ do: fc.constant("remove" as const), flowId });
  const steps = fc.array(fc.oneof({ weight: 5, arbitrary: push }, release, remove), {
    size: "medium",
    maxLength: 100,
  });
  fc.assert(
    fc.property(steps, (history) => {
      const queue = new SharedQueue<Item>({ ...ROOMY, quantum: { messages: 10, bytes: 1000 } });
      const model = new Map<string, Item[]>(["a", "b", "c", "d", "e"].map((id) => [id, []]));
      for (const [number, step] of history.entries()) {
        if (step.do === "push") {
          const item = { flowId: step.flowId, number, cost: step.cost };
          expect(queue.tryPush(step.flowId, item, step.cost)).toBe(true);
          model.get(step.flowId)?.push(item);
        } else if (step.do === "remove") {
          expect(queue.queue.remove(step.flowId)).toEqual(model.get(step.flowId)?.splice(0));
        } else {
          const waiting = queue.size;
          const before = queue.payer.charged.length;
          const released = queue.take(step.count);
          expect(released).toHaveLength(Math.min(step.count, waiting));
          for (const item of released) expect(model.get(item.flowId)?.shift()).toBe(item);
          expect(queue.payer.charged.slice(before)).toEqual(released.map((item) => item.cost));
        }
        expect(queue.size).toBe([...model.values()].flat().length);
      }
    }),
  );
});

test("between two turns of one flow every other that waits has had one", () => {
  const arrivals = fc.array(flowId, { minLength: 1, maxLength: 60 });
  const releases = fc.array(fc.nat(3), { maxLength: 60 });
  fc.assert(
    fc.property(arrivals, releases, (pushed, taken) => {
      const queue = new SharedQueue<string>({ ...ROOMY, quantum: { messages: 1, bytes: 1 } });
      const waiting: string[] = [];
      /** For each flow, the flows that waited at its last turn and have had none since. */
      const owed = new Map<string, Set<string>>();
      const onTurnOf = (id: string): void => {
        expect([...(owed.get(id) ?? [])]).toEqual([]);
        for (const others of owed.values()) others.delete(id);
        waiting.splice(waiting.indexOf(id), 1);
        owed.set(id, new Set(waiting.filter((other) => other !== id)));
      };
      for (const [i, id] of pushed.entries()) {
        queue.tryPush(id, id, UNIT);
        waiting.push(id);
        for (const released of queue.take(taken[i] ?? 0)) onTurnOf(released);
      }
      for (const released of queue.take(pushed.length)) onTurnOf(released);
      expect(queue.size).toBe(0);
    }),
  );
});

test("flows that keep waiting get the same within one quantum and one item", () => {
  const quantum = { messages: 10, bytes: 1000 };
  const turnsOf = ({ messages, bytes }: Cost): number =>
    Math.max(messages / quantum.messages, bytes / quantum.bytes);
  const items = fc.array(fc.array(cost, { minLength: 1, maxLength: 5 }), {
    minLength: 2,
    maxLength: 6,
  });
  fc.assert(
    fc.property(items, (sizesOfFlows) => {
      const queue = new SharedQueue<Item>({ ...ROOMY, quantum });
      const push = (flow: number, number: number): void => {
        const sizes = sizesOfFlows[flow] as Cost[];
        const paid = sizes[number % sizes.length] as Cost;
        queue.tryPush(`${flow}`, { flowId: `${flow}`, number, cost: paid }, paid);
      };
      const served = sizesOfFlows.map(() => 0);
      for (const flow of served.keys()) for (let i = 0; i < 50; i++) push(flow, i);
      for (let i = 0; i < 500; i++) {
        const [item] = queue.take(1) as [Item];
        const flow = Number(item.flowId);
        push(flow, item.number + 50);
        served[flow] = (served[flow] ?? 0) + turnsOf(item.cost);
      }
      const largest = turnsOf({ messages: 30, bytes: 3000 });
      expect(Math.max(...served) - Math.min(...served)).toBeLessThanOrEqual(1 + largest + 1e-9);
    }),
    { numRuns: 50 },
  );
});

test("a flow with many small items takes a whole quantum in its turn", () => {
  const queue = new SharedQueue<string>({ ...ROOMY, quantum: { messages: 3, bytes: 100 } });
  for (let i = 0; i < 6; i++) queue.tryPush("small", "s", UNIT);
  for (let i = 0; i < 2; i++) queue.tryPush("large", "L", { messages: 1, bytes: 100 });
  expect(queue.take(8).join("")).toBe("sssLsssL");
});

test("a head of a billion quanta leaves at once when it is alone or all are so large", () => {
  const queue = new SharedQueue<string>({ ...ROOMY, quantum: { messages: 1, bytes: 1 } });
  queue.tryPush("huge", "huge", { messages: 0, bytes: 1e9 });
  queue.tryPush("huger", "huger", { messages: 2 ** 53, bytes: 0 });
  expect(queue.take(2)).toEqual(["huge", "huger"]);
});

test("turns that are saved up for large heads are worth no more than they would have been", () => {
  const queue = new SharedQueue<string>({ ...ROOMY, quantum: { messages: 1, bytes: 1 } });
  for (const id of ["a", "b"]) {
    queue.tryPush(id, `${id} large`, { messages: 1000, bytes: 0 });
    queue.tryPush(id, `${id} small`, UNIT);
  }
  expect(queue.take(4)).toEqual(["a large", "b large", "a small", "b small"]);
});

test("a dear head waits for its quanta while others take theirs", () => {
  const queue = new SharedQueue<string>({ ...ROOMY, quantum: { messages: 1, bytes: 1 } });
  queue.tryPush("dear", "D", { messages: 4, bytes: 0 });
  for (let i = 0; i < 6; i++) queue.tryPush("cheap", "c", UNIT);
  expect(queue.take(7).join("")).toBe("cccDccc");
});

/** Holds tokens, and owes what it was charged beyond them. Gains a token each millisecond. */
function payerOf(tokens: number): Payer & { tokens: number } {
  return {
    tokens,
    canAcquire(count) {
      return this.tokens >= count;
    },
    pauseMs(count) {
      return Math.max(0, count - this.tokens);
    },
    charge(messages) {
      this.tokens -= messages;
    },
  };
}

function flowOf(id: string, payer: Payer): Flow {
  return { id, payer: () => payer };
}

test("a payer is charged beyond its tokens once and then pays nothing more", () => {
  const queue = new FairQueue<number>({ ...ROOMY, quantum: { messages: 1, bytes: 1 } });
  const payer = payerOf(6);
  for (let i = 0; i < 5; i++) queue.tryPush(flowOf("a", payer), i, { messages: 4, bytes: 0 });
  expect([queue.release(0), payer.tokens]).toEqual([[0, 1], -2]);
  expect(queue.release(0)).toEqual([]);
});

test("a payer without tokens holds up its own flows and no others", () => {
  const queue = new FairQueue<string>({ ...ROOMY, quantum: { messages: 1, bytes: 1 } });
  const [empty, rich] = [payerOf(1), payerOf(100)];
  for (const item of ["1", "2", "3"]) {
    queue.tryPush(flowOf("held", empty), `h${item}`, UNIT);
    queue.tryPush(flowOf("free", rich), `f${item}`, UNIT);
  }
  expect(queue.release(0)).toEqual(["h1", "f1", "f2", "f3"]);
  empty.tokens = 1;
  expect(queue.release(0)).toEqual(["h2"]);
});

test("a flow that is held up neither gains nor loses turns by it", () => {
  const queue = new FairQueue<string>({ ...ROOMY, quantum: { messages: 2, bytes: 1 } });
  const shared = payerOf(0);
  for (let i = 0; i < 4; i++) {
    queue.tryPush(flowOf("a", shared), "a", UNIT);
    queue.tryPush(flowOf("b", shared), "b", UNIT);
  }
  const released: string[] = [];
  for (let i = 0; i < 8; i++) {
    released.push(...queue.release(0));
    shared.tokens = 1;
  }
  expect([...released, ...queue.release(0)].join("")).toBe("aabbaabb");
});

test("flows that wait on one payer get the same, also while flows wait on other payers", () => {
  const flows = fc.array(fc.nat(2), { minLength: 2, maxLength: 6 });
  const tokens = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(flows, tokens, fc.constantFrom(1, 2, 10), (payerOfFlow, perRelease, quantum) => {
      const queue = new FairQueue<number>({ ...ROOMY, quantum: { messages: quantum, bytes: 1 } });
      const payers = perRelease.map(() => payerOf(0));
      const served = payerOfFlow.map(() => 0);
      const push = (flow: number): void => {
        const payer = payers[payerOfFlow[flow] as number] as Payer;
        queue.tryPush(flowOf(`${flow}`, payer), flow, UNIT);
      };
      for (const flow of served.keys()) for (let i = 0; i < 20; i++) push(flow);
      for (let release = 0; release < 100; release++) {
        for (const [i, payer] of payers.entries()) payer.tokens = perRelease[i] as number;
        for (const flow of queue.release(0)) {
          served[flow] = (served[flow] ?? 0) + 1;
          push(flow);
        }
      }
      for (const payer of perRelease.keys()) {
        const shares = served.filter((_, flow) => payerOfFlow[flow] === payer);
        if (shares.length === 0) continue;
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(quantum + 1);
      }
    }),
    { numRuns: 200 },
  );
});

test("what there is no room for is refused, and there is room again once something left", () => {
  const queue = new SharedQueue<string>({
    quantum: { messages: 1, bytes: 1 },
    maxFlows: 2,
    maxItemsPerFlow: 2,
  });
  const pushed = ["a", "a", "a", "b", "c"].map((id) => queue.tryPush(id, id, UNIT));
  expect([pushed, queue.size]).toEqual([[true, true, false, true, false], 3]);
  expect(queue.take(2)).toEqual(["a", "b"]);
  expect(["a", "c", "b"].map((id) => queue.tryPush(id, id, UNIT))).toEqual([true, true, false]);
  queue.queue.remove("a");
  expect(queue.tryPush("b", "b", UNIT)).toBe(true);
});

test("a refusal tells whether bytes or items are at their bound", () => {
  const queue = new SharedQueue<string>({ maxFlows: 2, maxItemsPerFlow: 2, maxBytes: 100 });
  const { payer } = queue;
  const reasonFor = (id: string, bytes: number): string | undefined =>
    queue.queue.admit(flowOf(id, payer), id, { messages: 1, bytes }).reason;
  expect(["a", "a", "a", "b", "c"].map((id) => reasonFor(id, 10))).toEqual([
    undefined,
    undefined,
    "connection-pending",
    undefined,
    "connection-pending",
  ]);
  expect([reasonFor("b", 71), reasonFor("b", 70)]).toEqual(["memory", undefined]);
});

test("bytes that were released or removed make room, and are never miscounted", () => {
  const queue = new SharedQueue<string>({ maxBytes: 100 });
  const push = (id: string, bytes: number): boolean =>
    queue.tryPush(id, id, { messages: 1, bytes });
  expect([push("a", 60), push("b", 50), queue.queue.bytes]).toEqual([true, false, 60]);
  queue.take(1);
  expect([push("b", 50), push("b", 50), push("a", 1), queue.queue.bytes]).toEqual([
    true,
    true,
    false,
    100,
  ]);
  queue.queue.remove("b");
  expect([queue.queue.bytes, push("a", 100)]).toEqual([0, true]);
});

test("an item larger than the bound in bytes is admitted once no other bytes wait", () => {
  const queue = new SharedQueue<string>({ maxBytes: 100 });
  const large = { messages: 1, bytes: 500 };
  queue.tryPush("a", "small", { messages: 1, bytes: 1 });
  expect(queue.tryPush("a", "large", large)).toBe(false);
  queue.take(1);
  expect([queue.tryPush("a", "large", large), queue.take(1)]).toEqual([true, ["large"]]);
});

test("an item that costs nothing leaves at the head of its flow, is not charged and keeps order", () => {
  const queue = new FairQueue<string>();
  const payer = payerOf(0);
  const free = { messages: 0, bytes: 0 };
  const flow = flowOf("a", payer);
  for (const [item, itemCost] of [
    ["free 1", free],
    ["paid", UNIT],
    ["free 2", free],
  ] as const) {
    queue.tryPush(flow, item, itemCost);
  }
  expect(queue.nextReleaseMs()).toBe(0);
  expect([queue.release(), payer.tokens]).toEqual([["free 1"], 0]);
  payer.tokens = 1;
  expect([queue.release(), payer.tokens]).toEqual([["paid", "free 2"], 0]);
});

test("items that cost nothing earn their flow no further turns", () => {
  const queue = new SharedQueue<string>({ quantum: { messages: 2, bytes: 1 } });
  for (let i = 0; i < 5; i++) queue.tryPush("free", "f", { messages: 0, bytes: 0 });
  for (const id of ["free", "other"]) for (let i = 0; i < 4; i++) queue.tryPush(id, id, UNIT);
  const order = queue.take(13).map((item) => item[0]);
  expect(order.join("")).toBe("fffffffooffoo");
});

test("the next release is due when the first payer can pay, and then something is released", () => {
  const queue = new FairQueue<string>();
  const clock = new VirtualClock();
  expect(queue.nextReleaseMs()).toBeUndefined();
  for (const rate of [4, 10, 2]) {
    const payer = new CompoundLimiter({ clock, messages: { rate } });
    payer.charge(12, 0);
    queue.tryPush(flowOf(`${rate}`, payer), `${rate}`, UNIT);
  }
  expect([queue.release(), queue.nextReleaseMs()]).toEqual([[], 300]);
  clock.advance(299);
  expect([queue.release(), queue.nextReleaseMs()]).toEqual([[], 1]);
  clock.advance(1);
  expect([queue.release(), queue.nextReleaseMs()]).toEqual([["10"], 1950]);
});

test("a limiter that is replaced or changed while items wait decides their release", () => {
  const queue = new FairQueue<string>();
  const clock = new VirtualClock();
  let limiter = new CompoundLimiter({ clock, messages: { rate: 1, initialTokens: 0 } });
  queue.tryPush({ id: "a", payer: () => limiter }, "first", UNIT);
  queue.tryPush({ id: "a", payer: () => limiter }, "second", UNIT);
  limiter.messages?.setRate(10);
  expect(queue.nextReleaseMs()).toBe(100);
  limiter = new CompoundLimiter({ clock, messages: { rate: 1000, initialTokens: 1 } });
  expect([queue.release(), queue.nextReleaseMs()]).toEqual([["first"], 1]);
});

test("the payer given with the last push pays for all items of its flow", () => {
  const queue = new FairQueue<string>();
  const clock = new VirtualClock();
  const slow = new CompoundLimiter({ clock, messages: { rate: 1, initialTokens: 0 } });
  const fast = new CompoundLimiter({ clock, messages: { rate: 10 } });
  queue.tryPush(flowOf("a", slow), "first", UNIT);
  queue.tryPush(flowOf("a", fast), "second", UNIT);
  expect(queue.release()).toEqual(["first", "second"]);
});
