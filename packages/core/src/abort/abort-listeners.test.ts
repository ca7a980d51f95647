import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { addAbortListener, removeAbortListener } from "./abort-listeners.ts";

function named(heard: string[], name: string) {
  return { handleEvent: () => void heard.push(name) };
}

test("a signal has one event listener for all its listeners, and none after the last was removed", () => {
  const { signal } = new AbortController();
  const all = ["a", "b", "c"].map((name) => named([], name));
  for (const each of all) addAbortListener(signal, each);
  for (const each of all) {
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    removeAbortListener(signal, each);
  }
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("each listener is told once, in the order of adding, except removed ones", () => {
  const heard: string[] = [];
  const controller = new AbortController();
  const [a, b, c] = ["a", "b", "c"].map((name) => named(heard, name)) as [Named, Named, Named];
  for (const each of [a, b, c]) addAbortListener(controller.signal, each);
  removeAbortListener(controller.signal, b);
  controller.abort();
  expect(heard).toEqual(["a", "c"]);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
});

type Named = ReturnType<typeof named>;

test("a listener that an earlier listener removes is not told", () => {
  const heard: string[] = [];
  const controller = new AbortController();
  const second = named(heard, "second");
  addAbortListener(controller.signal, {
    handleEvent: () => removeAbortListener(controller.signal, second),
  });
  addAbortListener(controller.signal, second);
  controller.abort();
  expect(heard).toEqual([]);
});
