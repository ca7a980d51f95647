import { expect, test } from "vitest";
import { MessageId } from "../message/message-id.ts";
import { deliveryOf } from "./receive/delivery.ts";
import { StartPosition } from "./start-position.ts";

const delivery = deliveryOf(new MessageId(5n, 6n));

test.each([
  { what: "a whole entry", batchIndex: -1, isInclusive: false, passed: [true, true, true] },
  { what: "a whole entry", batchIndex: -1, isInclusive: true, passed: [false, false, false] },
  { what: "message 1", batchIndex: 1, isInclusive: false, passed: [true, true, false] },
  { what: "message 1", batchIndex: 1, isInclusive: true, passed: [true, false, false] },
])("of a batch, $what passes $passed, inclusive: $isInclusive", (start) => {
  const { batchIndex, isInclusive, passed } = start;
  const position = new StartPosition(new MessageId(5n, 6n, { batchIndex }), isInclusive);
  expect([0, 1, 2].map((index) => position.isPassed(delivery, index))).toEqual(passed);
});

test("only messages of its own entry are checked: brokers skip earlier entries", () => {
  const position = new StartPosition(new MessageId(5n, 7n), false);
  expect(position.isPassed(delivery, undefined)).toBe(false);
  expect(new StartPosition(new MessageId(5n, 6n), false).isPassed(delivery, undefined)).toBe(true);
  expect(StartPosition.none.isPassed(delivery, undefined)).toBe(false);
});
