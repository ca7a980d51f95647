import { expect, test } from "vitest";
import type { LiveProducer } from "../../../../src/live/live-message.ts";
import { producersShown } from "./path-model.ts";

const producers = (count: number): readonly LiveProducer[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `p${index}`,
    topic: "t",
    isAware: false,
    rate: index,
    isAskedAtLeast: false,
    heldFrames: 0,
    heldBytes: 0,
  }));
const NONE = { count: 0, rate: 0 };

test("eight producers have a row each", () => {
  const shown = producersShown({ producers: producers(8), producersLeftOut: NONE });
  expect([shown.producers.length, shown.others]).toEqual([8, undefined]);
});

test("of more than eight the seven heaviest have a row, and the others one together", () => {
  const shown = producersShown({
    producers: producers(20),
    producersLeftOut: { count: 28, rate: 100 },
  });
  expect(shown.producers.map(({ name }) => name)).toEqual([
    "p13",
    "p14",
    "p15",
    "p16",
    "p17",
    "p18",
    "p19",
  ]);
  expect(shown.others).toEqual({ count: 41, rate: 100 + 78 });
});
