import { expect, test, vi } from "vitest";
import { eitherSignal } from "./either-signal.ts";

test.each([0, 1])("a signal of two is aborted by either, and for its reason", (which) => {
  const sources = [new AbortController(), new AbortController()] as const;
  const signal = eitherSignal(sources[0].signal, sources[1].signal);
  const reasons: unknown[] = [];
  signal.addEventListener("abort", () => reasons.push(signal.reason));
  expect(signal.aborted).toBe(false);
  sources[which]?.abort("enough");
  sources[1 - which]?.abort("too late");
  expect(reasons).toEqual(["enough"]);
  expect(signal.reason).toBe("enough");
});

test.each([0, 1])("a signal of two is aborted from the start if one of them is", (which) => {
  const sources = [new AbortController(), new AbortController()] as const;
  sources[which]?.abort("before");
  const signal = eitherSignal(sources[0].signal, sources[1].signal);
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toBe("before");
});

test("a signal leads all that follow it, by one listener", () => {
  const source = new AbortController();
  const add = vi.spyOn(source.signal, "addEventListener");
  const signals = Array.from({ length: 20 }, () =>
    eitherSignal(source.signal, new AbortController().signal),
  );
  expect(add).toHaveBeenCalledTimes(1);
  source.abort();
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});
