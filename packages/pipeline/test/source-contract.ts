/** What every source must do. A connector's tests call `sourceContract` with a real server behind it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock, systemRandom, systemTimer } from "@sluice/core/system";
import { decode, END } from "../src/index.ts";
import type { Message, OpenContext, Source, SourceConnector } from "../src/index.ts";

/** A source and the means to put messages into its server. Each test has a fresh one. */
export interface SourceBench {
  /** Connects to the same place in the server whenever it is opened. */
  readonly connector: SourceConnector;
  /** Puts one message for each text into the server, in this order. */
  put(values: readonly string[]): Promise<void>;
  /** Removes what the test has left in the server. */
  tearDown(): Promise<void>;
}

export interface SourceTraits {
  /** Whether messages come in the order in which they were put. Default: true. */
  readonly isOrdered?: boolean;
  /** Whether `read` answers END once all is read, instead of waiting for more. Default: false. */
  readonly hasEnd?: boolean;
  /** How long the server may take to deliver what was put, or what comes again, ms. Default: 5000. */
  readonly patienceMs?: number;
}

/** The context that a pipeline would give, with real time. */
export function contextOf(name = "contract/source"): OpenContext {
  const { signal } = new AbortController();
  return { name, timer: systemTimer, random: systemRandom, signal, tell: () => {} };
}

export function sourceContract(
  name: string,
  setUp: () => Promise<SourceBench>,
  { isOrdered = true, hasEnd = false, patienceMs = 5000 }: SourceTraits = {},
): void {
  const texts = (messages: readonly Message[]): readonly string[] => {
    const found = messages.map(({ value }) =>
      Buffer.isBuffer(value) ? String(decode(value, "text")) : String(value),
    );
    return isOrdered ? found : found.toSorted();
  };

  describe(`the contract of sources: ${name}`, () => {
    const never = new AbortController().signal;
    let bench: SourceBench;
    let source: Source;
    let isOpen = false;

    const open = async (): Promise<void> => {
      source = await bench.connector.open(contextOf());
      isOpen = true;
    };
    const close = async (): Promise<void> => {
      isOpen = false;
      await source.close();
    };
    /** Reads until there are `count` messages, at most `countMax` with each call. */
    const read = async (count: number, countMax = 100): Promise<readonly Message[]> => {
      const all: Message[] = [];
      const untilMs = systemClock.now() + patienceMs;
      while (all.length < count && systemClock.now() < untilMs) {
        const some = await source.read(countMax, { signal: never, waitMs: 200 });
        if (some === END) break;
        expect(some.length).toBeLessThanOrEqual(countMax);
        all.push(...some);
      }
      return all;
    };
    beforeEach(async () => {
      bench = await setUp();
      await open();
    });
    afterEach(async () => {
      if (isOpen) await close();
      await bench.tearDown();
    });

    test("delivers what was put, with unique ids", async () => {
      await bench.put(["a", "b", "c"]);
      const messages = await read(3);
      expect(texts(messages)).toEqual(["a", "b", "c"]);
      expect(new Set(messages.map(({ id }) => id)).size).toBe(3);
      await source.ack(messages);
    });

    test("a read answers at most as many messages as it asks for, and the rest comes later", async () => {
      await bench.put(["a", "b", "c", "d", "e"]);
      const messages = await read(5, 2);
      expect(texts(messages)).toEqual(["a", "b", "c", "d", "e"]);
    });

    test("a read of a single message leaves the others for the next reads", async () => {
      await bench.put(["a", "b", "c"]);
      expect(texts(await read(3, 1))).toEqual(["a", "b", "c"]);
    });

    test("a read does not wait for a full batch", async () => {
      await bench.put(["a"]);
      const startMs = systemClock.now();
      const messages = await source.read(100, { signal: never, waitMs: 60_000 });
      expect(messages).toHaveLength(1);
      expect(systemClock.now() - startMs).toBeLessThan(30_000);
    });

    test.skipIf(hasEnd)("a read of an empty source ends after waitMs, with nothing", async () => {
      const startMs = systemClock.now();
      expect(await source.read(10, { signal: never, waitMs: 100 })).toEqual([]);
      const tookMs = systemClock.now() - startMs;
      expect(tookMs).toBeGreaterThan(50);
      expect(tookMs).toBeLessThan(30_000);
    });

    test.skipIf(hasEnd)(
      "the signal ends a read that waits, and the next read goes on",
      async () => {
        const stop = new AbortController();
        const reading = source.read(10, { signal: stop.signal, waitMs: 600_000 });
        stop.abort(new Error("enough"));
        expect(await reading).toEqual([]);
        await bench.put(["a"]);
        expect(texts(await read(1))).toEqual(["a"]);
      },
    );

    test.skipIf(hasEnd)("a read with an aborted signal ends at once without an error", async () => {
      const messages = await source.read(10, { signal: AbortSignal.abort(), waitMs: 600_000 });
      expect(messages).toEqual([]);
    });

    test.runIf(hasEnd)("answers the end once all is read, again and again", async () => {
      await bench.put(["a"]);
      await source.ack(await read(1));
      const options = { signal: never, waitMs: 1000 };
      expect(await source.read(10, options)).toBe(END);
      expect(await source.read(10, options)).toBe(END);
    });

    test("unacknowledged messages come again after a restart, with the same ids, and acknowledged ones do not", async () => {
      await bench.put(["a", "b", "c", "d"]);
      const messages = await read(4);
      const done = messages.filter(({ value }) => ["a", "b"].includes(String(value)));
      const left = messages.filter((message) => !done.includes(message));
      await source.ack(done);
      await close();
      await open();
      const again = await read(2);
      expect(texts(again).toSorted()).toEqual(["c", "d"]);
      expect(again.map(({ id }) => id).toSorted()).toEqual(left.map(({ id }) => id).toSorted());
      await source.ack(again);
    });

    test("messages are acknowledged in any order and in several calls", async () => {
      await bench.put(["a", "b", "c", "d"]);
      const messages = await read(4);
      await source.ack(messages.slice(2));
      await source.ack(messages.slice(0, 1));
      await source.ack(messages.slice(1, 2));
      await close();
      await open();
      if (hasEnd) expect(await source.read(10, { signal: never, waitMs: 300 })).toBe(END);
      else expect(await source.read(10, { signal: never, waitMs: 300 })).toEqual([]);
    });

    test("messages that are given back come again", async () => {
      if (source.nack === undefined) return;
      await bench.put(["a", "b"]);
      const messages = await read(2);
      await source.ack(messages.slice(0, 1));
      await source.nack(messages.slice(1));
      const again = await read(1);
      expect(again.map(({ id }) => id)).toEqual(messages.slice(1).map(({ id }) => id));
      await source.ack(again);
    });

    test("an empty acknowledgement is accepted", async () => {
      await source.ack([]);
    });

    test("the backlog is a count, or not known", async () => {
      await bench.put(["a", "b"]);
      const backlog = await source.backlog?.();
      if (backlog !== undefined) expect(backlog).toBeGreaterThanOrEqual(0);
    });

    test("closing ends a read that waits, and frees what was opened", async () => {
      const reading = source.read(10, { signal: never, waitMs: 2000 }).catch(() => []);
      await close();
      const messages = await reading;
      if (messages !== END) expect(messages).toEqual([]);
    });
  });
}
