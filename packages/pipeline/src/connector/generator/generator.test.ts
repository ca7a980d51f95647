import { ConfigError, SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { END } from "../source.ts";
import { generator } from "./generator.ts";

const { signal } = new AbortController();

function contextOf(timer: VirtualTimer) {
  return { name: "p/in", timer, random: new SeededRandom(1), signal, tell: () => {} };
}

test("a list is repeated up to the count, and then the source ends", async () => {
  const source = await generator({ values: ["a", "b"], count: 5 }).open(
    contextOf(new VirtualTimer()),
  );
  const options = { signal, waitMs: 1000 };
  expect(await source.read(3, options)).toMatchObject([
    { id: "0", value: "a" },
    { id: "1", value: "b" },
    { id: "2", value: "a" },
  ]);
  expect(await source.backlog?.()).toBe(2);
  expect(await source.read(3, options)).toHaveLength(2);
  expect(await source.read(3, options)).toBe(END);
});

test("a rate spaces messages evenly, and a reader that comes late finds those that are due", async () => {
  const timer = new VirtualTimer();
  const source = await generator({ values: (index) => index, ratePerSecond: 10 }).open(
    contextOf(timer),
  );
  const options = { signal, waitMs: 1000 };
  expect(await source.read(100, options)).toHaveLength(1);
  const second = source.read(100, options);
  await timer.advance(99);
  expect(timer.sleeping).toBe(1);
  await timer.advance(1);
  expect(await second).toHaveLength(1);
  await timer.advance(1000);
  expect(await source.read(100, options)).toHaveLength(10);
  const waiting = source.read(100, { signal, waitMs: 20 });
  await timer.advance(20);
  expect(await waiting).toEqual([]);
});

test("the signal ends the wait for the next message", async () => {
  const timer = new VirtualTimer();
  const source = await generator({ values: [1, 2], ratePerSecond: 0.01 }).open(contextOf(timer));
  const stop = new AbortController();
  const options = { signal: stop.signal, waitMs: 600_000 };
  expect(await source.read(1, options)).toHaveLength(1);
  const waiting = source.read(1, options);
  stop.abort();
  expect(await waiting).toEqual([]);
  expect(timer.sleeping).toBe(0);
});

test.each([{ count: -1 }, { count: 0.5 }, { ratePerSecond: 0 }])("%j is refused", (wrong) => {
  expect(() => generator({ values: [1], ...wrong })).toThrow(ConfigError);
});

test("a generator without values is refused", () => {
  expect(() => generator({ count: 5 } as never)).toThrow(
    /values of generator is undefined; use a list or a function/,
  );
});
