/** What every sink must do. A connector's tests call `sinkContract` with a real server behind it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "@sluice/core/system";
import type { Message, Sink, SinkConnector } from "../src/index.ts";
import { contextOf } from "./source-contract.ts";

/** A sink and the means to see what its server has. Each test has a fresh one. */
export interface SinkBench {
  readonly connector: SinkConnector;
  /** What the server has, as text, in its order; waits until there are `count`, for a bounded time. */
  received(count: number): Promise<readonly string[]>;
  /** The headers of the first message that the server has, if it keeps headers. */
  headers?(): Promise<Readonly<Record<string, string>>>;
  /** Makes every write fail until `mend`. */
  fail?(): Promise<void>;
  mend?(): Promise<void>;
  /** Removes what the test has left in the server. */
  tearDown(): Promise<void>;
}

export interface SinkTraits {
  /** Whether the server has the messages of one batch in their order. Default: true. */
  readonly isOrdered?: boolean;
  /** Whether values go without their bytes, as in memory, so that any is taken. Default: false. */
  readonly takesAnyValue?: boolean;
  /** How long a sink may take to find that its server is mended, ms. Default: 10 000. */
  readonly patienceMs?: number;
}

function message(value: unknown, fields: Partial<Message> = {}): Message {
  return { id: `id-${String(value)}`, value, headers: {}, ...fields };
}

export function sinkContract(
  name: string,
  setUp: () => Promise<SinkBench>,
  { isOrdered = true, takesAnyValue = false, patienceMs = 10_000 }: SinkTraits = {},
): void {
  const sorted = (values: readonly string[]): readonly string[] =>
    isOrdered ? values : values.toSorted();

  describe(`the contract of sinks: ${name}`, () => {
    const { signal } = new AbortController();
    let bench: SinkBench;
    let sink: Sink;

    const write = async (messages: readonly Message[]): Promise<readonly unknown[]> => {
      const results = await sink.write(messages, { signal });
      if (results === undefined) return messages.map(() => undefined);
      expect(results).toHaveLength(messages.length);
      return results;
    };
    beforeEach(async () => {
      bench = await setUp();
      sink = await bench.connector.open(contextOf("contract/sink"));
    });
    afterEach(async () => {
      await sink.close();
      await bench.tearDown();
    });

    test("the server has every message once a write resolves", async () => {
      const results = await write(["a", "b", "c"].map((value) => message(value)));
      expect(results).toEqual([undefined, undefined, undefined]);
      expect(sorted(await bench.received(3))).toEqual(["a", "b", "c"]);
    });

    test("batches one after the other keep their order", async () => {
      await write([message("a")]);
      await write([message("b"), message("c")]);
      expect(sorted(await bench.received(3))).toEqual(["a", "b", "c"]);
    });

    test("a batch of 1000 messages arrives whole", async () => {
      const values = Array.from({ length: 1000 }, (_, index) => String(index).padStart(4, "0"));
      const results = await write(values.map((value) => message(value)));
      expect(results.filter((result) => result !== undefined)).toEqual([]);
      expect(sorted(await bench.received(1000))).toEqual(values);
    });

    test("text, bytes and JSON are written as they are", async () => {
      await write([message("text")]);
      await write([message(Buffer.from("bytes"))]);
      await write([message({ order: 7 })]);
      expect(sorted(await bench.received(3))).toEqual(sorted(["text", "bytes", '{"order":7}']));
    });

    test.skipIf(takesAnyValue)(
      "a value that has no JSON fails for good, and its neighbours are written",
      async () => {
        const results = await write([message("a"), message(10n), message("c")]);
        expect(results).toEqual([
          undefined,
          expect.objectContaining({ isRetriable: false }),
          undefined,
        ]);
        expect(sorted(await bench.received(2))).toEqual(["a", "c"]);
      },
    );

    test("headers go with a message, such as its trace", async () => {
      if (bench.headers === undefined) return;
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const headers = { traceparent, tracestate: "shop=7,a@b=c d", baggage: "user=ann%20b" };
      await write([message("a", { key: "k", headers })]);
      await bench.received(1);
      expect(await bench.headers()).toMatchObject(headers);
    });

    test("an empty batch is accepted", async () => {
      expect(await write([])).toEqual([]);
    });

    test("a failing server fails messages that may succeed later, and the sink goes on once it is mended", async () => {
      if (bench.fail === undefined || bench.mend === undefined) return;
      await bench.fail();
      const failures = await failuresOf(sink, [message("a"), message("b")]);
      expect(failures).toBe(2);
      await bench.mend();
      let left: readonly Message[] = [message("a"), message("b")];
      const untilMs = systemClock.now() + patienceMs;
      while (left.length > 0 && systemClock.now() < untilMs) {
        const results = await sink.write(left, { signal }).catch(() => left.map(() => "failed"));
        left = left.filter((_, index) => results?.[index] !== undefined);
      }
      expect(left).toEqual([]);
      expect([...new Set(await bench.received(2))].toSorted()).toEqual(["a", "b"]);
    });

    test("an aborted signal ends a write", async () => {
      const stop = AbortSignal.abort(new Error("the drain is over"));
      await sink.write([message("a")], { signal: stop }).catch(() => {});
    });

    test("closing twice is harmless", async () => {
      await sink.close();
      await sink.close();
    });
  });
}

/** How many of the messages were not written, and may succeed later. */
async function failuresOf(sink: Sink, messages: readonly Message[]): Promise<number> {
  const { signal } = new AbortController();
  try {
    const results = (await sink.write(messages, { signal })) ?? [];
    return results.filter((result) => result?.isRetriable === true).length;
  } catch {
    return messages.length;
  }
}
