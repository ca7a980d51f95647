import * as fc from "fast-check";
import { expect, test } from "vitest";
import { javaStringHash, murmur3, murmur3Hash, partitionOfKey } from "./key-hash.ts";

// By Java 17's String.hashCode, with its sign bit cleared as Pulsar does.
test.each([
  ["", 0],
  ["a", 97],
  ["Aa", 2112],
  ["BB", 2112],
  ["key1", 3_288_498],
  ["key-10", 1_012_760_653],
  ["order-4711", 708_276_994],
  ["ключ", 33_309_882],
  ["😀", 1_772_899],
  ["The quick brown fox jumps over the lazy dog", 1_538_055_507],
  // Its hash is the smallest number there is, which has no absolute value.
  ["polygenelubricants", 0],
])("Java's hash of %j is %i", (key, hash) => {
  expect(javaStringHash(key)).toBe(hash);
});

// By Python's mmh3, with every length of a last block; the keys are those of Pulsar's own tests.
test.each([
  ["", 0],
  ["a", 1_009_084_850],
  ["k1", 2_110_152_746],
  ["abc", 870_159_354],
  ["key1", 462_881_061],
  ["key2", 1_936_800_180],
  ["key01", 39_696_932],
  ["key02", 751_761_803],
  ["ключ", 442_048_578],
  ["😀", 1_051_995_898],
  ["The quick brown fox jumps over the lazy dog", 776_992_547],
])("Murmur3 of %j is %i", (key, hash) => {
  expect(murmur3Hash(key)).toBe(hash);
});

test("Murmur3 of bytes keeps all of its 32 bits", () => {
  expect(murmur3(new TextEncoder().encode("test"))).toBe(0xba6bd213);
  expect(murmur3(Uint8Array.of(0xff, 0xff, 0xff, 0xff))).toBe(0x76293b50);
});

test("every key has one partition, for each hash", () => {
  const hash = fc.constantFrom(javaStringHash, murmur3Hash);
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.integer({ min: 1, max: 1000 }),
      hash,
      (key, partitions, by) => {
        const partition = partitionOfKey(key, partitions, by);
        expect(Number.isInteger(partition) && partition >= 0 && partition < partitions).toBe(true);
        expect(partitionOfKey(key, partitions, by)).toBe(partition);
      },
    ),
  );
});
