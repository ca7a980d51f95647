import { expect, test } from "vitest";
import { javaStringHash, murmur3Hash } from "../message/key-hash.ts";
import { Router } from "./router.ts";

const NEVER = (): boolean => false;

test("messages without a key go round, from where it begins", () => {
  const router = new Router({ route: undefined, keyHash: javaStringHash, startAt: 1 });
  const chosen = Array.from({ length: 5 }, () => router.choose({ data: "" }, 3, NEVER));
  expect(chosen).toEqual([2, 0, 1, 2, 0]);
});

test("they stay with a partition while it gathers a batch", () => {
  const router = new Router({ route: undefined, keyHash: javaStringHash, startAt: 0 });
  const first = router.choose({ data: "" }, 3, NEVER);
  const gathering = (partition: number): boolean => partition === first;
  expect(router.choose({ data: "" }, 3, gathering)).toBe(first);
  expect(router.choose({ data: "" }, 3, NEVER)).toBe((first + 1) % 3);
});

test("keys go where other clients put them, bytes by their base64", () => {
  const java = new Router({ route: undefined, keyHash: javaStringHash, startAt: 0 });
  const murmur = new Router({ route: undefined, keyHash: murmur3Hash, startAt: 0 });
  expect(java.choose({ data: "", key: "order-1" }, 10, NEVER)).toBe(javaStringHash("order-1") % 10);
  const asText = murmur.choose({ data: "", key: "AQI=" }, 10, NEVER);
  expect(murmur.choose({ data: "", key: Uint8Array.of(1, 2) }, 10, NEVER)).toBe(asText);
});

test("the user's own choice is taken before all, if it exists", () => {
  const router = new Router({
    route: ({ data }, partitions) => Number(data) % partitions,
    keyHash: javaStringHash,
    startAt: 0,
  });
  expect(router.choose({ data: "7", key: "a" }, 4, NEVER)).toBe(3);
  expect(() => router.choose({ data: "x" }, 4, NEVER)).toThrow(/partition NaN/);
});
