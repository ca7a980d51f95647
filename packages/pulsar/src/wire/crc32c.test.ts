import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crc32c } from "./crc32c.ts";

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The definition, one bit at a time. */
function bitwise(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

describe("crc32c", () => {
  // The first is the check value of the polynomial, the rest are from RFC 3720, appendix B.4.
  test.each([
    ["no bytes", new Uint8Array(), 0],
    ["the digits 1 to 9", ascii("123456789"), 0xe3069283],
    ["32 zeros", new Uint8Array(32), 0x8a9136aa],
    ["32 ones", new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ["32 bytes that count up", Uint8Array.from({ length: 32 }, (_, at) => at), 0x46dd794e],
    ["32 bytes that count down", Uint8Array.from({ length: 32 }, (_, at) => 31 - at), 0x113fdb5c],
  ])("has the published sum of %s", (_, bytes, sum) => {
    expect(crc32c(bytes)).toBe(sum);
  });

  test("agrees with the definition at any offset of a buffer", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400, size: "max" }),
        fc.nat(20),
        fc.nat(20),
        (bytes, from, cut) => {
          const part = bytes.subarray(from, bytes.length - cut);
          expect(crc32c(part)).toBe(bitwise(part));
          expect(crc32c(part.slice())).toBe(bitwise(part));
        },
      ),
    );
  });

  test.each([1_023, 1_024, 1_025, 1_040, 3_000])(
    "agrees with the definition for %i bytes, which may be read by words",
    (length) => {
      const all = Uint8Array.from({ length: length + 8 }, (_, at) => (at * 167 + (at >> 8)) & 0xff);
      for (let from = 0; from < 8; from++) {
        const part = all.subarray(from, from + length);
        expect(crc32c(part)).toBe(bitwise(part));
        expect(crc32c(all.subarray(0, from + length), 0, from)).toBe(bitwise(part));
      }
    },
  );

  test("of parts, each seeded with the one before, equals that of the whole", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 60, size: "max" }), { maxLength: 6 }),
        (parts) => {
          const chained = parts.reduce((seed, part) => crc32c(part, seed), 0);
          expect(chained).toBe(bitwise(Uint8Array.from(parts.flatMap((part) => [...part]))));
        },
      ),
    );
  });
});
