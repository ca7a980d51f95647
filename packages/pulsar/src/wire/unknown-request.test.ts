import fc from "fast-check";

import { expect, test } from "vitest";
import { encodeFrame } from "./frame.ts";
import { requestIdOf } from "./unknown-request.ts";

/** What follows the two lengths of a frame. */
function commandBytes(requestId: bigint): Buffer {
  return encodeFrame({ kind: "success", body: { requestId } }).subarray(8);
}

test("finds the id of any request, as the wire itself writes it", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (requestId) => {
      const bytes = commandBytes(requestId);
      expect(requestIdOf({ kind: "unknown", type: 13, bytes })).toBe(requestId);
    }),
  );
});

test("finds none in the body of another command", () => {
  expect(requestIdOf({ kind: "unknown", type: 99, bytes: commandBytes(1n) })).toBeUndefined();
});

test("any bytes at all give an id or none", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(200), (array, type) => {
      const bytes = Buffer.from(array);
      const requestId = requestIdOf({ kind: "unknown", type, bytes });
      expect(requestId === undefined || requestId < 2n ** 64n).toBe(true);
    }),
  );
});
