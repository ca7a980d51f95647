import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTopicName } from "../name/topic-name.ts";
import { TopicIndex } from "./topic-index.ts";

const texts = ["a", "b", "p", "p-partition-0", "p-partition-1", "x/y/c", "non-persistent://x/y/c"];
const NAMES = texts.map(parseTopicName);
const P = parseTopicName("p");

type Act = readonly ["add" | "remove", number] | readonly ["partitions", number];

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(fc.constantFrom("add" as const, "remove" as const), fc.nat(texts.length - 1)),
  fc.tuple(fc.constant("partitions" as const), fc.nat(3)),
);

test("whatever is added and removed, a namespace lists what exists and what partitions imply", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const index = new TopicIndex();
      const existing = new Set<string>();
      let partitions = 0;
      for (const [what, which] of acts) {
        const name = NAMES[which];
        if (what === "partitions") {
          // A number of partitions only grows, or goes.
          partitions = which === 0 ? 0 : Math.max(which, partitions);
          if (partitions === 0) index.removePartitions(P);
          else index.setPartitions(P, partitions);
        } else if (name !== undefined && what === "add") {
          index.add(name);
          existing.add(name.full);
        } else if (name !== undefined) {
          index.remove(name);
          existing.delete(name.full);
        }
        const implied = Array.from({ length: partitions }, (_, at) => `${P.full}-partition-${at}`);
        const expected = [...new Set([...existing, ...implied])].toSorted();
        for (const namespace of ["public/default", "x/y"])
          expect(index.topicsOf(namespace)).toEqual(
            expected.filter((full) => parseTopicName(full).namespace === namespace),
          );
        expect(index.size).toBe(expected.length);
        expect(index.partitionsOf(P)).toBe(partitions);
      }
    }),
  );
});

test("a list is one array until its namespace changes, and another namespace does not change it", () => {
  const index = new TopicIndex();
  index.add(parseTopicName("a"));
  const list = index.topicsOf("public/default");
  index.add(parseTopicName("x/y/z"));
  expect(index.topicsOf("public/default")).toBe(list);
  expect(Object.isFrozen(list)).toBe(true);
  index.add(parseTopicName("b"));
  expect(index.topicsOf("public/default")).not.toBe(list);
  expect(index.topicsOf("none/there")).toEqual([]);
});
