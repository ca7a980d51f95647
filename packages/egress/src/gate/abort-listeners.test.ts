import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { addAbortListener, removeAbortListener } from "./abort-listeners.ts";

function hearer(heard: string[], name: string) {
  return { handleEvent: () => void heard.push(name) };
}

test("a signal that many listen to has one listener, and none when they have left", () => {
  const { signal } = new AbortController();
  const all = ["a", "b", "c"].map((name) => hearer([], name));
  for (const each of all) addAbortListener(signal, each);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const each of all) {
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    removeAbortListener(signal, each);
  }
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("each is told once, in the order of coming, and not who has left", () => {
  const heard: string[] = [];
  const controller = new AbortController();
  const a = hearer(heard, "a");
  const b = hearer(heard, "b");
  const c = hearer(heard, "c");
  for (const each of [a, b, c]) addAbortListener(controller.signal, each);
  removeAbortListener(controller.signal, b);
  controller.abort();
  expect(heard).toEqual(["a", "c"]);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
});

test("who leaves because another was told is not told", () => {
  const heard: string[] = [];
  const controller = new AbortController();
  const second = hearer(heard, "second");
  addAbortListener(controller.signal, {
    handleEvent: () => removeAbortListener(controller.signal, second),
  });
  addAbortListener(controller.signal, second);
  controller.abort();
  expect(heard).toEqual([]);
});
