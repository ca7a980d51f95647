import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { CountedByteBudget } from "./counted-byte-budget.ts";

const MIB = 1024 * 1024;

function budgetOf8MiB() {
  const changes: boolean[] = [];
  const budget = new CountedByteBudget(8 * MIB, (isExhausted) => changes.push(isExhausted));
  return { budget, changes };
}

test("the budget is exhausted above three quarters and free at seven eighths of these, whatever holds it", () => {
  const { budget, changes } = budgetOf8MiB();
  let calls = 0;
  budget.whenFree(() => calls++);
  budget.reserve("publish", 4 * MIB);
  budget.reserve("partial-frame", 2 * MIB);
  expect([budget.isExhausted, changes]).toEqual([false, []]);
  budget.reserve("clients", 1);
  expect([budget.isExhausted, changes]).toEqual([true, [true]]);
  budget.release("publish", 0.75 * MIB);
  expect([budget.isExhausted, calls]).toEqual([true, 0]);
  budget.release("publish", 1);
  expect([budget.isExhausted, calls, changes]).toEqual([false, 1, [true, false]]);
  expect([budget.bytes, budget.peakBytes]).toEqual([5.25 * MIB, 6 * MIB + 1]);
  expect(budget.byUse()).toMatchObject({ publish: 3.25 * MIB - 1, clients: 1, held: 0 });
});

test("new connections are refused above four fifths, and all reading ends above fifteen sixteenths", () => {
  const { budget } = budgetOf8MiB();
  budget.reserve("outbound", 6.4 * MIB);
  expect([budget.isCrowded, budget.isFull]).toEqual([false, false]);
  budget.reserve("outbound", 1);
  expect([budget.isCrowded, budget.isFull]).toEqual([true, false]);
  budget.reserve("held", 1.1 * MIB - 2);
  expect([budget.isCrowded, budget.isFull]).toEqual([true, false]);
  budget.reserve("held", 2);
  expect([budget.isCrowded, budget.isFull]).toEqual([true, true]);
});

test("deliveries take half of the budget, so that publishing goes on when consumers do not read", () => {
  const { budget } = budgetOf8MiB();
  budget.reserve("read-ahead", 2 * MIB);
  budget.reserve("outbound", 2 * MIB);
  expect(budget.isDeliveryExhausted).toBe(false);
  budget.reserve("read-ahead", 1);
  expect([budget.isDeliveryExhausted, budget.isExhausted]).toEqual([true, false]);
  let calls = 0;
  budget.whenFree(() => calls++);
  budget.release("outbound", MIB);
  expect([budget.isDeliveryExhausted, calls]).toEqual([false, 1]);
});

test("a listener is called once, and not after it stopped waiting", () => {
  const { budget } = budgetOf8MiB();
  const heard: string[] = [];
  const fill = (): void => {
    budget.reserve("publish", 9 * MIB);
    budget.release("publish", 9 * MIB);
  };
  budget.whenFree(() => heard.push("once"));
  const stop = budget.whenFree(() => heard.push("never"));
  stop();
  fill();
  fill();
  expect(heard).toEqual(["once"]);
});

test("what is unused is known at once, and waited for otherwise", async () => {
  const { budget } = budgetOf8MiB();
  await budget.unused("publish");
  budget.reserve("publish", 2);
  budget.reserve("outbound", 1);
  const heard: string[] = [];
  const unused = budget.unused("publish").finally(() => heard.push("unused"));
  budget.release("publish", 1);
  budget.release("outbound", 1);
  await Promise.resolve();
  expect(heard).toEqual([]);
  budget.release("publish", 1);
  await unused;
});

test("a budget too small for a broker is refused by its name", () => {
  expect(() => new CountedByteBudget(1_000, () => {})).toThrow(ConfigError);
  expect(() => new CountedByteBudget(1_000, () => {})).toThrow("memoryBytesMax");
});
