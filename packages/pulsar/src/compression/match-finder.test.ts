import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MATCH_MIN_BYTES, MatchFinder } from "./match-finder.ts";

const repetitive = fc
  .array(fc.constantFrom("ab", "abcdefgh", "0123456789", "x"), { maxLength: 200, size: "max" })
  .map((parts) => new TextEncoder().encode(parts.join("")));

test("literals and matches follow each other without a gap, and every match repeats", () => {
  fc.assert(
    fc.property(repetitive, (bytes) => {
      const finder = new MatchFinder(bytes);
      let at = 0;
      while (finder.next()) {
        expect(finder.literalsAt).toBe(at);
        expect(finder.matchAt).toBeGreaterThanOrEqual(at);
        expect(finder.matchBytes).toBeGreaterThanOrEqual(MATCH_MIN_BYTES);
        at = finder.matchAt + finder.matchBytes;
        const match = bytes.subarray(finder.matchAt, at);
        const earlier = bytes.subarray(finder.matchAt - finder.distance, at - finder.distance);
        expect(Buffer.compare(match, earlier)).toBe(0);
      }
      expect(finder.literalsAt).toBe(at);
    }),
  );
});

// Other decoders of LZ4 copy in wide steps at the end of a block and rely on this; ours would not
// notice.
test("no match starts in the last 12 bytes or takes one of the last 5", () => {
  fc.assert(
    fc.property(repetitive, (bytes) => {
      const finder = new MatchFinder(bytes);
      while (finder.next()) {
        expect(finder.matchAt).toBeLessThanOrEqual(bytes.length - 12);
        expect(finder.matchAt + finder.matchBytes).toBeLessThanOrEqual(bytes.length - 5);
      }
    }),
  );
});

test.each([
  [65_535, true],
  [65_536, false],
])("a repetition %i bytes back is taken: %s", (distance, isTaken) => {
  const bytes = new Uint8Array(distance + 100);
  const word = new TextEncoder().encode("seldom");
  bytes.set(word);
  bytes.set(word, distance);
  const found: number[] = [];
  const finder = new MatchFinder(bytes);
  while (finder.next()) found.push(finder.distance);
  expect(found.includes(distance)).toBe(isTaken);
});
