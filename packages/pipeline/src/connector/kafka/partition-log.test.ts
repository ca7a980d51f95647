import { expect, test } from "vitest";
import { PartitionLog } from "./partition-log.ts";

test("the lowest unacknowledged offset is committed, and once", () => {
  const log = new PartitionLog(10);
  const [first, second] = [log.add(10), log.add(11)];
  if (first === undefined || second === undefined) throw new Error("both are new");
  log.acknowledge(second);
  expect(log.toCommit).toBeUndefined();
  log.acknowledge(first);
  expect(log.toCommit).toBe(12);
  log.onCommitted(12);
  expect(log.toCommit).toBeUndefined();
});

test("a message in the pipeline is not read twice after a rebalance", () => {
  const log = new PartitionLog(0);
  for (const offset of [0, 1, 2]) expect(log.add(offset)).toBeDefined();
  expect([0, 1, 2, 3].map((offset) => log.add(offset) !== undefined)).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test("offsets may have gaps, as in a compacted topic", () => {
  const log = new PartitionLog(0);
  const places = [log.add(5), log.add(9)];
  for (const place of places) if (place !== undefined) log.acknowledge(place);
  expect(log.toCommit).toBe(10);
});

test("a topic that was created anew is read from its beginning", () => {
  const log = new PartitionLog(0);
  const place = log.add(500);
  if (place !== undefined) log.acknowledge(place);
  log.onCommitted(501);
  expect(log.add(0)).toBeDefined();
  expect(log.add(1)).toBeDefined();
});
