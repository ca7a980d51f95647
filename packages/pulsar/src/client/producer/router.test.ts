import { expect, test } from "vitest";
import { javaStringHash, murmur3Hash } from "../message/key-hash.ts";
import { Router } from "./router.ts";
import type { PartitionState, RoutedPartitions } from "./router.ts";

const FREE = (): PartitionState => "free";
const ONLY_LAST = (partition: number): PartitionState => (partition === 2 ? "free" : "full");

function partitions(
  count: number,
  stateOf: (partition: number) => PartitionState,
  pausesMs: readonly number[] = [],
): RoutedPartitions {
  return { count, stateOf, pauseLeftMs: (partition) => pausesMs[partition] ?? 0 };
}

test("messages without a key go to the partitions in round robin, from the given start", () => {
  const router = new Router({ route: undefined, keyHash: javaStringHash, startAt: 1 });
  const chosen = Array.from({ length: 5 }, () => router.choose({ data: "" }, partitions(3, FREE)));
  expect(chosen).toEqual([2, 0, 1, 2, 0]);
});

test("the round robin stays with a partition while that one collects a batch", () => {
  const router = new Router({ route: undefined, keyHash: javaStringHash, startAt: 0 });
  const first = router.choose({ data: "" }, partitions(3, FREE));
  const gathering = (partition: number): PartitionState =>
    partition === first ? "gathering" : "free";
  expect(router.choose({ data: "" }, partitions(3, gathering))).toBe(first);
  expect(router.choose({ data: "" }, partitions(3, FREE))).toBe((first + 1) % 3);
});

test("a key goes to the partition where other clients put it, and bytes by their base64", () => {
  const java = new Router({ route: undefined, keyHash: javaStringHash, startAt: 0 });
  const murmur = new Router({ route: undefined, keyHash: murmur3Hash, startAt: 0 });
  expect(java.choose({ data: "", key: "order-1" }, partitions(10, FREE))).toBe(
    javaStringHash("order-1") % 10,
  );
  const asText = murmur.choose({ data: "", key: "AQI=" }, partitions(10, FREE));
  expect(murmur.choose({ data: "", key: Uint8Array.of(1, 2) }, partitions(10, FREE))).toBe(asText);
});

test("partitions.route comes before the key, and must return an existing partition", () => {
  const router = new Router({
    route: ({ data }, count) => Number(data) % count,
    keyHash: javaStringHash,
    startAt: 0,
  });
  expect(router.choose({ data: "7", key: "a" }, partitions(4, FREE))).toBe(3);
  expect(() => router.choose({ data: "x" }, partitions(4, FREE))).toThrow(/route returned NaN/);
});

test("the round robin skips partitions whose room is full, and goes on if all are", () => {
  const router = new Router({ route: undefined, keyHash: javaStringHash, startAt: 0 });
  expect([1, 2, 3].map(() => router.choose({ data: "" }, partitions(3, ONLY_LAST)))).toEqual([
    2, 2, 2,
  ]);
  const chosen = [1, 2, 3].map(() =>
    router.choose(
      { data: "" },
      partitions(3, () => "full"),
    ),
  );
  expect(chosen).toEqual([0, 1, 2]);
  expect(
    router.choose(
      { data: "", key: "a" },
      partitions(3, () => "full"),
    ),
  ).toBe(javaStringHash("a") % 3);
});

test("the round robin skips throttled partitions, and waits for room before it waits for a pause", () => {
  const router = new Router({ route: undefined, keyHash: javaStringHash, startAt: 0 });
  const states: PartitionState[] = ["throttled", "free", "throttled", "free"];
  const choose = (pausesMs: readonly number[] = []): number =>
    router.choose(
      { data: "" },
      partitions(4, (partition) => states[partition] ?? "free", pausesMs),
    );
  expect([1, 2, 3].map(() => choose())).toEqual([1, 3, 1]);
  states[1] = "full";
  states[3] = "full";
  expect([1, 2, 3].map(() => choose([5, 0, 4, 0]))).toEqual([3, 1, 3]);
});

test("if all partitions are throttled, the round robin goes to the one whose pause ends first", () => {
  const router = new Router({ route: undefined, keyHash: javaStringHash, startAt: 0 });
  const throttled = partitions(4, () => "throttled", [700, 300, 900, 300]);
  expect([1, 2].map(() => router.choose({ data: "" }, throttled))).toEqual([1, 1]);
  expect(router.choose({ data: "", key: "a" }, throttled)).toBe(javaStringHash("a") % 4);
});
