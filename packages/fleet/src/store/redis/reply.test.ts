import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SyncRequest } from "../pool-store.ts";
import { readLeft, readSyncReply, readVersion } from "./reply.ts";
import { StoreError } from "../store-error.ts";

const ASKED: SyncRequest = {
  pool: "p",
  member: "a",
  nonce: "n",
  sequence: 1,
  size: 1,
  level: undefined,
  limitsVersion: 3,
  demand: { entitled: 10, held: 10, wanted: 10 },
  times: { staleMs: 1, learningMs: 1, resumeTtlMs: 1 },
};

const GOOD = [
  "counted",
  "agree",
  "2",
  "2",
  "1",
  "77",
  "1790000000000",
  "500",
  "90",
  "crash",
  "4",
  "text",
];

/** The good reply with one field changed. */
function withField(index: number, value: unknown): unknown[] {
  return GOOD.map((field, place) => (place === index ? value : field));
}

describe("a reply", () => {
  test("is read field by field", () => {
    expect(readSyncReply(GOOD, ASKED)).toEqual({
      kind: "counted",
      verdict: "agree",
      size: 2,
      live: 2,
      rank: 1,
      roster: "77",
      storeMs: 1_790_000_000_000,
      parts: 500,
      saved: { level: 90, left: "crash" },
      limits: { version: 4, text: "text" },
    });
    const bare = [...GOOD.slice(0, 7), "", "", "", "", ""];
    expect(readSyncReply(bare, { ...ASKED, demand: undefined })).toMatchObject({
      parts: undefined,
      saved: undefined,
      limits: undefined,
    });
    expect(readSyncReply(["refused"], ASKED)).toEqual({ kind: "refused" });
  });

  test.each<[string, unknown]>([
    ["nothing", null],
    ["a word", "counted"],
    ["an empty list", []],
    ["an object", { kind: "counted" }],
    ["refused, with more", ["refused", ""]],
    ["too few fields", GOOD.slice(0, 11)],
    ["too many fields", [...GOOD, ""]],
    ["another first word", withField(0, "granted")],
    ["an unknown verdict", withField(1, "AGREE")],
    ["a size of nobody", withField(2, "0")],
    ["a size that is no number", withField(2, "two")],
    ["a size that is not whole", withField(2, "2.0")],
    ["a size in other digits", withField(2, "0x2")],
    ["a size with a space", withField(2, " 2")],
    ["a number where a string should be", withField(2, 2)],
    ["agreement on another number than are live", withField(2, "3")],
    ["nobody live", withField(3, "0")],
    ["a negative rank", withField(4, "-1")],
    ["a rank beyond the last", withField(4, "2")],
    ["no roster", withField(5, "")],
    ["a roster that is no number", withField(5, "ab")],
    ["no time", withField(6, "")],
    ["a time beyond what is exact", withField(6, "9007199254740993")],
    ["no parts for who asked", withField(7, "")],
    ["more parts than there are", withField(7, "1000000001")],
    ["negative parts", withField(7, "-1")],
    ["a level without how it was left", withField(9, "")],
    ["a level left in an unknown way", withField(9, "gone")],
    ["no level that was left", withField(8, "")],
    ["a level that is no number", withField(8, "NaN")],
    ["limits that are known", withField(10, "3")],
    ["limits without a version", withField(10, "")],
    ["a missing field", withField(11, undefined)],
  ])("is an error if it is %s", (_what, reply) => {
    expect(() => readSyncReply(reply, ASKED)).toThrow(StoreError);
    expect(() => readSyncReply(reply, ASKED)).toThrow(expect.objectContaining({ code: "STORE" }));
  });

  test("to who did not ask by demand has no parts", () => {
    expect(() => readSyncReply(GOOD, { ...ASKED, demand: undefined })).toThrow(StoreError);
  });

  test("is a reply or an error, whatever it is", () => {
    const field = fc.oneof(fc.constantFrom(...GOOD, "", "refused"), fc.anything());
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.array(field, { maxLength: 12 })), (reply) => {
        try {
          const read = readSyncReply(reply, ASKED);
          if (read.kind === "counted") expect(read.rank).toBeLessThan(read.live);
        } catch (error) {
          expect(error).toBeInstanceOf(StoreError);
        }
      }),
    );
  });

  test.each([0, 1, "", "0", "-1", "1.5", null, undefined, ["1"]])(
    "of version %j is an error",
    (reply) => {
      expect(() => readVersion(reply)).toThrow(StoreError);
    },
  );

  test("to a leave is one of two words", () => {
    expect(() => readLeft("left")).not.toThrow();
    expect(() => readLeft("other")).not.toThrow();
    expect(() => readLeft("OK")).toThrow(StoreError);
  });
});
