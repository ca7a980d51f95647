import { expect, test } from "vitest";
import { PublishMemory } from "./publish-memory.ts";

test("everybody stops above the bound and goes on at half of it", () => {
  const changes: boolean[] = [];
  const memory = new PublishMemory(100, (isFull) => changes.push(isFull));
  memory.reserve(100);
  expect(changes).toEqual([]);
  memory.reserve(1);
  memory.reserve(1_000);
  expect(changes).toEqual([true]);
  memory.release(1_050);
  expect(changes).toEqual([true]);
  memory.release(1);
  expect([changes, memory.bytes]).toEqual([[true, false], 50]);
});
