/** Key_Shared: one consumer at a time per key, in order, until acknowledged. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryTopicLog } from "../../../storage/log/memory-topic-log.ts";
import { formatPosition } from "../../../storage/position.ts";
import type { Position } from "../../../storage/position.ts";
import { Consumer } from "../../consumer.ts";
import { Cursor } from "../../cursor/cursor.ts";
import type { ReadRequest } from "../dispatcher.ts";
import { KeyAssignment } from "./key-assignment.ts";
import type { KeyRange } from "./key-assignment.ts";
import { Subscription } from "../../subscription.ts";
import { cpuMs } from "../../../../test/cpu-time.ts";

interface Known {
  readonly position: Position;
  readonly key: number;
  holder: Consumer | undefined;
  isAcked: boolean;
  deliveredTimes: number;
}

/** Spreads small numbers over all hashes. */
const scatter = (text: string): number => {
  let hash = 7;
  for (const letter of text)
    hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x5bd1_e995) >>> 0;
  return hash % 65_536;
};

function newConsumer(name: string, keyRanges?: readonly KeyRange[]): Consumer {
  return new Consumer({ name, priorityLevel: 0, unackedMax: 1, keyRanges });
}

class Course {
  readonly #log = new MemoryTopicLog({ segmentBytesMax: 300 });
  readonly #subscription: Subscription;
  readonly entries: Known[] = [];
  readonly #byPosition = new Map<string, Known>();
  consumers: Consumer[] = [];
  #joined = 0;
  #reading: ReadRequest | undefined;

  constructor() {
    const cursor = Cursor.startingAt(this.#log, this.#log.first);
    this.#subscription = new Subscription(cursor, "key-shared", {
      bounds: { countMax: 5, bytesMax: 100 },
      unackedMax: 20,
      consumersMax: 100,
      partition: undefined,
      delays: { deliverAtMsOf: () => undefined, wallClock: { now: () => 0 }, countMax: 1 },
      keys: { hashOfEntry: ([key = 0]) => scatter(`${key}`), hashOfText: scatter },
    });
  }

  async append(key: number): Promise<void> {
    const parts = [Buffer.of(key, 0, 0, 0)];
    const position = await this.#log.append({ parts, messageCount: 1, publishedAtMs: 0 });
    const known = { position, key, holder: undefined, isAcked: false, deliveredTimes: 0 };
    this.entries.push(known);
    this.#byPosition.set(formatPosition(position), known);
  }

  join(): void {
    const consumer = new Consumer({ name: `c${this.#joined++}`, priorityLevel: 0, unackedMax: 8 });
    this.#subscription.join(consumer, "key-shared");
    this.consumers.push(consumer);
  }

  leave(index: number): void {
    const [consumer] = this.consumers.splice(index % Math.max(1, this.consumers.length), 1);
    if (consumer === undefined) return;
    this.#subscription.leave(consumer);
    this.#free(consumer);
  }

  flow(index: number, permits: number): void {
    this.consumers[index % this.consumers.length]?.addPermits(permits);
  }

  acknowledge(pick: number): void {
    const held = this.entries.filter(({ holder }) => holder !== undefined);
    const entry = held[pick % held.length];
    if (entry === undefined) return;
    this.#subscription.acknowledge([{ position: entry.position }]);
    Object.assign(entry, { isAcked: true, holder: undefined });
  }

  redeliver(index: number): void {
    const consumer = this.consumers[index % this.consumers.length];
    if (consumer === undefined) return;
    this.#subscription.redeliver(consumer);
    this.#free(consumer);
  }

  letGo(): void {
    this.#subscription.letGo();
  }

  /** Begins a read or ends the one that was begun: anything may happen while the disk is read. */
  async step(): Promise<void> {
    const request = this.#reading;
    if (request === undefined) {
      this.#dispatch();
      this.#reading = this.#subscription.wanted();
      return;
    }
    this.#reading = undefined;
    this.#subscription.onRead(request, await this.#log.read(request.from, request.bounds));
    this.#dispatch();
  }

  /** Whatever was passed over comes as long as there are permits and acknowledgements. */
  async finish(): Promise<void> {
    if (this.consumers.length === 0) this.join();
    for (let rounds = 0; this.entries.some(({ isAcked }) => !isAcked); rounds++) {
      expect(rounds).toBeLessThan(40 * this.entries.length + 40);
      for (let index = 0; index < this.consumers.length; index++) this.flow(index, 10);
      await this.step();
      for (const { holder } of this.entries) if (holder !== undefined) this.acknowledge(0);
    }
  }

  #dispatch(): void {
    for (const { consumer, deliveries } of this.#subscription.dispatch())
      for (const { position, redeliveryCount } of deliveries) {
        const entry = this.#byPosition.get(formatPosition(position));
        if (entry === undefined) throw new Error("never stored");
        expect(entry.isAcked || entry.holder !== undefined).toBe(false);
        expect(redeliveryCount).toBe(entry.deliveredTimes);
        const ofKey = this.entries.filter(({ key, isAcked }) => key === entry.key && !isAcked);
        // Nobody else has entries of the key, and no earlier one of it is left out.
        for (const other of ofKey) expect([consumer, undefined]).toContain(other.holder);
        const earlier = ofKey.slice(0, ofKey.indexOf(entry));
        expect(earlier.filter(({ holder }) => holder === undefined)).toEqual([]);
        entry.holder = consumer;
        entry.deliveredTimes++;
      }
  }

  #free(consumer: Consumer): void {
    for (const entry of this.entries) if (entry.holder === consumer) entry.holder = undefined;
  }
}

type Act = (course: Course) => void | Promise<void>;

const n = fc.nat(20);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    arbitrary: fc.nat(4).map(
      (key): Act =>
        (course) =>
          course.append(key),
    ),
    weight: 8,
  },
  { arbitrary: fc.constant<Act>((course) => course.join()), weight: 2 },
  {
    arbitrary: n.map(
      (index): Act =>
        (course) =>
          course.leave(index),
    ),
    weight: 1,
  },
  {
    arbitrary: fc.tuple(n, fc.integer({ min: 1, max: 5 })).map(
      ([index, permits]): Act =>
        (course) =>
          course.flow(index, permits),
    ),
    weight: 6,
  },
  {
    arbitrary: n.map(
      (pick): Act =>
        (course) =>
          course.acknowledge(pick),
    ),
    weight: 6,
  },
  {
    arbitrary: n.map(
      (index): Act =>
        (course) =>
          course.redeliver(index),
    ),
    weight: 1,
  },
  { arbitrary: fc.constant<Act>((course) => course.letGo()), weight: 1 },
  { arbitrary: fc.constant<Act>((course) => course.step()), weight: 12 },
);

test("whatever happens, the entries of a key go to one consumer at a time, in order, until acknowledged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 120, size: "max" }), async (acts) => {
      const course = new Course();
      for (const run of acts) await run(course);
      await course.finish();
    }),
    { numRuns: 500 },
  );
});

test("a consumer without permits holds up only its own keys", async () => {
  const course = new Course();
  course.join();
  course.join();
  for (let round = 0; round < 3; round++)
    for (let key = 0; key < 30; key++) await course.append(key);
  course.flow(0, 1000);
  for (let steps = 0; steps < 200; steps++) {
    await course.step();
    course.acknowledge(0);
    course.acknowledge(0);
  }
  const delivered = course.entries.filter(({ deliveredTimes }) => deliveredTimes > 0);
  const keys = new Set(delivered.map(({ key }) => key));
  expect(keys.size).toBeGreaterThan(3);
  expect(keys.size).toBeLessThan(27);
  expect(delivered).toHaveLength(3 * keys.size);
});

test("few keys move when a consumer joins, and all keys have a consumer", () => {
  const assignment = new KeyAssignment(scatter);
  const consumerOf = (): readonly (string | undefined)[] =>
    Array.from({ length: 1_000 }, (_, key) => assignment.consumerOf(scatter(`${key}`))?.name);
  expect(consumerOf()).not.toContain("a");
  for (const name of ["a", "b", "c"]) assignment.add(newConsumer(name));
  const before = consumerOf();
  expect(before).not.toContain(undefined);
  for (const name of ["a", "b", "c"]) {
    const count = before.filter((each) => each === name).length;
    expect(count).toBeGreaterThan(150);
    expect(count).toBeLessThan(550);
  }
  const added = newConsumer("d");
  assignment.add(added);
  const after = consumerOf();
  const moved = after.filter((each, index) => each !== before[index]);
  expect(new Set(moved)).toEqual(new Set(["d"]));
  assignment.remove(added);
  expect(consumerOf()).toEqual(before);
});

test("sticky consumers get the ranges that they name, and ranges that overlap are refused", () => {
  const assignment = new KeyAssignment(scatter);
  assignment.add(newConsumer("low", [{ start: 0, end: 99 }]));
  assignment.add(newConsumer("high", [{ start: 200, end: 65_535 }]));
  const names = [0, 99, 100, 199, 200, 65_535].map((hash) => assignment.consumerOf(hash)?.name);
  expect(names).toEqual(["low", "low", undefined, undefined, "high", "high"]);
  for (const range of [
    { start: 99, end: 120 },
    { start: 0, end: 65_535 },
    { start: 120, end: 110 },
    { start: 120, end: 65_536 },
    { start: -1, end: 0 },
  ])
    expect(() => assignment.add(newConsumer("bad", [range]))).toThrow("range");
  expect(() => assignment.add(newConsumer("auto"))).toThrow("another Key_Shared mode");
});

test("ranges of one consumer that overlap are refused", () => {
  const assignment = new KeyAssignment(scatter);
  const ranges = [
    { start: 0, end: 10 },
    { start: 10, end: 20 },
  ];
  expect(() => assignment.add(newConsumer("both", ranges))).toThrow("overlaps with another");
  expect(assignment.consumers).toEqual([]);
});

/** A range of one hash for every `step`th hash. */
function every(step: number, first: number): KeyRange[] {
  return Array.from({ length: Math.ceil((65_536 - first) / step) }, (_, index) => {
    const hash = first + index * step;
    return { start: hash, end: hash };
  });
}

test("sticky consumers with 1,000 ranges each are found in milliseconds, and one with more is refused", () => {
  const assignment = new KeyAssignment(scatter);
  expect(() => assignment.add(newConsumer("greedy", every(65, 0)))).toThrow(
    "1009 hash ranges; a consumer may name 1000",
  );
  const consumers = Array.from({ length: 66 }, (_, index) =>
    newConsumer(`c${index}`, every(66, index)),
  );
  const startMs = cpuMs();
  for (const consumer of consumers) assignment.add(consumer);
  let mistakes = 0;
  for (let hash = 0; hash < 65_536; hash++)
    if (assignment.consumerOf(hash) !== consumers[hash % 66]) mistakes++;
  // 60 ms on a loaded machine.
  expect(cpuMs() - startMs).toBeLessThan(1_000);
  expect(mistakes).toBe(0);
});
