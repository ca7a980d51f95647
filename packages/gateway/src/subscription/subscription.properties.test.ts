import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryTopicLog } from "../storage/log/memory-topic-log.ts";
import { comparePositions, formatPosition } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";
import { Consumer } from "./consumer.ts";
import { decodeCursor, encodeCursor } from "../storage/cursor/cursor-codec.ts";
import { Cursor } from "./cursor/cursor.ts";
import type { CursorSnapshot } from "../storage/cursor/cursor-snapshot.ts";
import type { Ack, Delivery } from "./delivery.ts";
import type { ReadRequest } from "./dispatch/dispatcher.ts";
import { Subscription } from "./subscription.ts";
import type { SubscriptionType } from "./subscription.ts";

const NO_DELAYS = {
  deliverAtMsOf: () => undefined,
  wallClock: { now: () => 0 },
  countMax: 1,
};

const UNACKED_MAX = 8;
const ALL_UNACKED_MAX = 20;
const READ_ENTRIES_MAX = 4;

/** What must be true of one stored entry. */
interface Known {
  readonly position: Position;
  readonly messageCount: number;
  /** Messages that are not acknowledged; 0 once the entry is. */
  left: bigint;
  holder: Consumer | undefined;
  deliveredTimes: number;
}

/**
 * Drives a subscription over a log with short ledgers and checks every delivery against what it
 * knows of each entry.
 */
class Course {
  readonly #log = new MemoryTopicLog({ segmentBytesMax: 300 });
  readonly #type: SubscriptionType;
  readonly #entries: Known[] = [];
  #subscription: Subscription;
  #consumers: Consumer[] = [];
  #saved: { snapshot: CursorSnapshot; left: readonly bigint[] };
  #reading: { request: ReadRequest; entries: ReturnType<MemoryTopicLog["read"]> } | undefined;

  constructor(type: SubscriptionType) {
    this.#type = type;
    const cursor = Cursor.startingAt(this.#log, this.#log.first);
    this.#saved = { snapshot: cursor.snapshot(), left: [] };
    this.#subscription = this.#subscriptionOf(cursor);
  }

  async append(messageCount: number): Promise<void> {
    // Of different sizes, so that bytes bound a read as often as the count does.
    const parts = [Buffer.alloc(15 * messageCount)];
    const position = await this.#log.append({ parts, messageCount, publishedAtMs: 0 });
    const left = allOf({ messageCount });
    this.#entries.push({
      position,
      messageCount,
      left,
      holder: undefined,
      deliveredTimes: 0,
    });
  }

  join(priorityLevel: number): void {
    if (this.#type === "exclusive" && this.#consumers.length > 0) return;
    const name = `consumer ${this.#consumers.length}`;
    const consumer = new Consumer({ name, priorityLevel, unackedMax: UNACKED_MAX });
    const before = this.#active();
    this.#subscription.join(consumer, this.#type);
    this.#consumers.push(consumer);
    if (this.#active() !== before) this.#release(before);
  }

  leave(index: number): void {
    const consumer = this.#consumer(index);
    if (consumer === undefined) return;
    this.#subscription.leave(consumer);
    this.#consumers = this.#consumers.filter((other) => other !== consumer);
    this.#release(consumer);
  }

  flow(index: number, permits: number): void {
    this.#consumer(index)?.addPermits(permits);
  }

  pause(index: number): void {
    this.#consumer(index)?.pause();
  }

  resume(index: number): void {
    this.#consumer(index)?.resume();
  }

  /** Acknowledges an entry, whoever has it, or some messages of it. */
  acknowledge(index: number, left: bigint): void {
    const entry = this.#entries[index % this.#entries.length];
    if (entry === undefined) return;
    this.#subscription.acknowledge([ackOf(entry, left)]);
    this.#narrow(entry, left);
  }

  acknowledgeUpTo(index: number, left: bigint): void {
    const end = index % this.#entries.length;
    const last = this.#entries[end];
    if (last === undefined || this.#type === "shared") return;
    this.#subscription.acknowledgeUpTo(ackOf(last, left));
    for (const entry of this.#entries.slice(0, end)) this.#narrow(entry, 0n);
    this.#narrow(last, left);
  }

  redeliver(index: number, picks: readonly number[] | undefined): void {
    const consumer = this.#consumer(index);
    if (consumer === undefined) return;
    const picked = picks?.flatMap((pick) => this.#entries[pick % this.#entries.length] ?? []);
    const isPicked = (entry: Known): boolean =>
      this.#type !== "shared" || picked === undefined || picked.includes(entry);
    this.#subscription.redeliver(
      consumer,
      picked?.map((entry) => entry.position),
    );
    for (const entry of this.#entries)
      if (entry.holder === consumer && isPicked(entry)) entry.holder = undefined;
  }

  save(): void {
    const snapshot = decodeCursor(encodeCursor(this.#subscription.cursor.snapshot()));
    this.#saved = { snapshot, left: this.#entries.map((entry) => entry.left) };
  }

  /** As after a crash: all that was not saved is forgotten. */
  restart(): void {
    const { snapshot, left } = this.#saved;
    this.#reading = undefined;
    this.#consumers = [];
    this.#subscription = this.#subscriptionOf(new Cursor(this.#log, snapshot));
    for (const [index, entry] of this.#entries.entries()) {
      entry.left = left[index] ?? allOf(entry);
      entry.holder = undefined;
      entry.deliveredTimes = 0;
    }
    this.checkCursor();
  }

  /** Begins a read, or takes the answer of the one that was begun. */
  async step(): Promise<void> {
    if (this.#reading === undefined) {
      const request = this.#subscription.wanted();
      if (request === undefined) return;
      this.#reading = { request, entries: this.#log.read(request.from, request.bounds) };
      return;
    }
    const { request, entries } = this.#reading;
    this.#reading = undefined;
    this.#subscription.onRead(request, await entries);
    this.dispatch();
  }

  dispatch(): void {
    const before = new Map(this.#consumers.map((each) => [each, each.permits]));
    const unacked = new Map(this.#consumers.map((each) => [each, each.unacked]));
    const dispatches = this.#subscription.dispatch();
    for (const { consumer, deliveries } of dispatches) {
      expect(deliveries).toEqual(deliveries.toSorted(returnedFirst));
      // All but the last entry were within the permits, and within what may be unacknowledged.
      const counts = deliveries.map(unackedIn);
      const messages = counts.slice(0, -1).reduce((sum, each) => sum + each, 0);
      const permits = before.get(consumer) ?? 0;
      expect(messages).toBeLessThan(permits);
      expect(consumer.permits).toBe(permits - messages - (counts.at(-1) ?? 0));
      const held = this.#type === "shared" ? (unacked.get(consumer) ?? 0) + messages : 0;
      expect(held).toBeLessThan(UNACKED_MAX);
      if (this.#type !== "shared") expect(consumer).toBe(this.#active());
    }
    // Consumers get theirs at once, so among them the order does not count.
    const all = dispatches.flatMap(({ consumer, deliveries }) =>
      deliveries.map((delivery) => ({ consumer, delivery })),
    );
    for (const { consumer, delivery } of all.toSorted((a, b) =>
      returnedFirst(a.delivery, b.delivery),
    ))
      this.#check(consumer, delivery);
  }

  checkCursor(): void {
    const { cursor } = this.#subscription;
    const wrong = this.#entries.filter(
      ({ position, left }) => cursor.isAcked(position) !== (left === 0n),
    );
    expect(wrong).toEqual([]);
    const first = this.#entries.find((entry) => entry.left !== 0n);
    const next = this.#log.next({ ...cursor.ackedBefore, entryId: cursor.ackedBefore.entryId - 1 });
    expect(next).toEqual(first?.position ?? this.#log.end);
  }

  /** With one consumer that takes and acknowledges everything, nothing is left. */
  async finish(): Promise<void> {
    while (this.#consumers.length > 0) this.leave(0);
    this.join(0);
    for (let rounds = 0; this.#entries.some((entry) => entry.left !== 0n); rounds++) {
      expect(rounds).toBeLessThan(10 * this.#entries.length + 10);
      this.flow(0, 100);
      await this.step();
      await this.step();
      this.dispatch();
      for (const [index, entry] of this.#entries.entries())
        if (entry.holder !== undefined) this.acknowledge(index, 0n);
    }
    this.checkCursor();
  }

  #check(consumer: Consumer, { position, redeliveryCount, ackSet }: Delivery): void {
    const entry = this.#entries.find((other) => comparePositions(other.position, position) === 0);
    if (entry === undefined) throw new Error(`${formatPosition(position)} was never stored`);
    expect(entry.holder).toBeUndefined();
    expect(entry.left).not.toBe(0n);
    expect(ackSet ?? [allOf(entry)]).toEqual([entry.left]);
    // Nothing is skipped; of a shared subscription, what came back is delivered before what is new.
    const waiting = this.#entries.filter(
      (other) => other.holder === undefined && other.left !== 0n,
    );
    if (this.#type === "shared") {
      expect(redeliveryCount).toBe(entry.deliveredTimes);
      if (entry.deliveredTimes === 0) expect(waiting[0]).toBe(entry);
    } else expect(waiting[0]).toBe(entry);
    entry.deliveredTimes++;
    entry.holder = consumer;
  }

  #narrow(entry: Known, left: bigint): void {
    entry.left &= left;
    if (entry.left === 0n) entry.holder = undefined;
  }

  #release(consumer: Consumer | undefined): void {
    for (const entry of this.#entries) if (entry.holder === consumer) entry.holder = undefined;
  }

  #active(): Consumer | undefined {
    return this.#consumers.find((consumer) => this.#subscription.isActive(consumer));
  }

  #consumer(index: number): Consumer | undefined {
    return this.#consumers[index % this.#consumers.length];
  }

  #subscriptionOf(cursor: Cursor): Subscription {
    return new Subscription(cursor, this.#type, {
      bounds: { countMax: READ_ENTRIES_MAX, bytesMax: 100 },
      unackedMax: ALL_UNACKED_MAX,
      consumersMax: 100,
      delays: NO_DELAYS,
      keys: { hashOfEntry: () => 0, hashOfText: () => 0 },
      partition: undefined,
    });
  }
}

/** What the client counts: of a batch, only what is not acknowledged. */
function unackedIn({ messageCount, ackSet }: Delivery): number {
  return ackSet === undefined ? messageCount : String(ackSet[0]?.toString(2)).split("1").length - 1;
}

function returnedFirst(a: Delivery, b: Delivery): number {
  const isNew = Number(a.redeliveryCount === 0) - Number(b.redeliveryCount === 0);
  return isNew || comparePositions(a.position, b.position);
}

function allOf({ messageCount }: Pick<Known, "messageCount">): bigint {
  return 2n ** BigInt(messageCount) - 1n;
}

/** Of a batch's messages all but those that are `left`. */
function ackOf(entry: Known, left: bigint): Ack {
  const { position } = entry;
  const ofBatch = left & allOf(entry);
  return ofBatch === 0n ? { position } : { position, ackSet: [ofBatch] };
}

type Act = (course: Course) => void | Promise<void>;

const index = fc.nat(40);
const left = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 31n }));

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    arbitrary: fc.integer({ min: 1, max: 5 }).map(
      (n): Act =>
        (c) =>
          c.append(n),
    ),
    weight: 6,
  },
  {
    arbitrary: fc.nat(1).map(
      (level): Act =>
        (c) =>
          c.join(level),
    ),
    weight: 2,
  },
  {
    arbitrary: index.map(
      (i): Act =>
        (c) =>
          c.leave(i),
    ),
    weight: 1,
  },
  {
    arbitrary: fc.tuple(index, fc.integer({ min: 1, max: 10 })).map(
      ([i, n]): Act =>
        (c) =>
          c.flow(i, n),
    ),
    weight: 5,
  },
  {
    arbitrary: index.map(
      (i): Act =>
        (c) =>
          c.pause(i),
    ),
    weight: 1,
  },
  {
    arbitrary: index.map(
      (i): Act =>
        (c) =>
          c.resume(i),
    ),
    weight: 1,
  },
  {
    arbitrary: fc.tuple(index, left).map(
      ([i, l]): Act =>
        (c) =>
          c.acknowledge(i, l),
    ),
    weight: 5,
  },
  {
    arbitrary: fc.tuple(index, left).map(
      ([i, l]): Act =>
        (c) =>
          c.acknowledgeUpTo(i, l),
    ),
    weight: 1,
  },
  {
    arbitrary: fc
      .tuple(index, fc.option(fc.array(index, { maxLength: 4 }), { nil: undefined }))
      .map(
        ([i, picks]): Act =>
          (c) =>
            c.redeliver(i, picks),
      ),
    weight: 1,
  },
  { arbitrary: fc.constant<Act>((c) => c.step()), weight: 10 },
  { arbitrary: fc.constant<Act>((c) => c.dispatch()), weight: 2 },
  { arbitrary: fc.constant<Act>((c) => c.save()), weight: 1 },
  { arbitrary: fc.constant<Act>((c) => c.restart()), weight: 1 },
);

test.each(["exclusive", "failover", "shared"] as const)(
  "whatever happens, a %s subscription delivers every entry until it is acknowledged, to one consumer at a time",
  async (type) => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 100, size: "max" }), async (acts) => {
        const course = new Course(type);
        for (const run of acts) {
          await run(course);
          course.checkCursor();
        }
        await course.finish();
      }),
      { numRuns: 300 },
    );
  },
);
