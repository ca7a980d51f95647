import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PARTS } from "../../../ledger/parts.ts";
import { DEFAULT_TIMING } from "../../../ledger/timing.ts";
import type { SyncRequest } from "../../pool-store.ts";
import { readLeft, readSyncReply, readVersion } from "./reply.ts";
import { StoreError } from "../../store-error.ts";

const ASKED: SyncRequest = {
  pool: "p",
  member: "a",
  nonce: "n",
  sequence: 1,
  isFirst: true,
  held: 0,
  isHeldUnleased: false,
  wanted: PARTS,
  safeShare: 0,
  startsOnSafeShare: false,
  needsRank: true,
  level: undefined,
  limits: { version: 3, text: undefined },
  timing: DEFAULT_TIMING,
  resumeTtlMs: 1000,
};

const TIME = "1790000000000";
const TOLD = ["told", "500", "1", "grown", "600", "2", "40", "1", "1", TIME, "1"];
const FIELDS = [...TOLD, "90", "crash", "4", "1", "text of limits"];
const GOOD = FIELDS.join(" ");

/** The good reply with one field changed. */
function withField(index: number, value: string): string {
  return FIELDS.with(index, value).join(" ");
}

describe("a reply", () => {
  test("is read field by field", () => {
    expect(readSyncReply(GOOD, ASKED)).toEqual({
      kind: "told",
      told: 500,
      isRenewed: true,
      reason: "grown",
      fair: 600,
      members: 2,
      learningMs: 40,
      isSettled: true,
      rank: 1,
      storeMs: 1_790_000_000_000,
      hasRunId: true,
      saved: { level: 90, left: "crash" },
      limitsVersion: 4,
      limits: { version: 4, text: "text of limits" },
    });
    const bare = [...FIELDS.slice(0, 8), "", TIME, "0", "", "", "3", "0", ""].join(" ");
    expect(readSyncReply(bare, ASKED)).toMatchObject({
      rank: undefined,
      hasRunId: false,
      saved: undefined,
      limitsVersion: 3,
      limits: undefined,
    });
    expect(readSyncReply("late", ASKED)).toEqual({ kind: "late" });
    const refused = { kind: "refused", why: "id-taken" };
    expect(readSyncReply("refused id-taken", ASKED)).toEqual(refused);
  });

  test.each<[string, unknown]>([
    ["nothing", null],
    ["a word", "told"],
    ["nothing at all", ""],
    ["an object", { kind: "told" }],
    ["refused for no cause", "refused"],
    ["refused for an unknown cause", "refused mood"],
    ["late, with more", "late "],
    ["too few fields", FIELDS.slice(0, 15).join(" ")],
    ["a list", FIELDS],
    ["another first word", withField(0, "granted")],
    ["a share beyond the ceiling", withField(1, "1000000001")],
    ["a negative share", withField(1, "-1")],
    ["a share that is not whole", withField(1, "2.0")],
    ["a share in other digits", withField(1, "0x2")],
    ["a share with a space", withField(1, " 2")],
    ["a number", 2],
    ["a renewal that is neither yes nor no", withField(2, "yes")],
    ["an unknown reason", withField(3, "mood")],
    ["a fair share beyond the ceiling", withField(4, "1000000001")],
    ["a pool without members", withField(5, "0")],
    ["a negative learning time", withField(6, "-1")],
    ["settled neither way", withField(7, "")],
    ["a negative rank", withField(8, "-1")],
    ["a rank beyond the last", withField(8, "2")],
    ["no time", withField(9, "")],
    ["a time beyond what is exact", withField(9, "9007199254740993")],
    ["a run known neither way", withField(10, "2")],
    ["no level that was left", withField(11, "")],
    ["a level that is no number", withField(11, "NaN")],
    ["a level without how it was left", withField(12, "")],
    ["a level left in an unknown way", withField(12, "gone")],
    ["limits without a version", withField(13, "")],
    ["limits that are known already", withField(13, "3")],
    ["newer limits without their text", withField(14, "0")],
    ["a text without newer limits", [...FIELDS.slice(0, 13), "3", "0", "text"].join(" ")],
  ])("is an error if it is %s", (_what, reply) => {
    expect(() => readSyncReply(reply, ASKED)).toThrow(StoreError);
    expect(() => readSyncReply(reply, ASKED)).toThrow(expect.objectContaining({ code: "STORE" }));
  });

  test("is a reply or an error, whatever it is", () => {
    const field = fc.oneof(fc.constantFrom(...FIELDS, "", "refused"), fc.string());
    const spaced = fc.array(field, { maxLength: 18 }).map((fields) => fields.join(" "));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), spaced), (reply) => {
        try {
          const read = readSyncReply(reply, ASKED);
          if (read.kind === "told") expect(read.told).toBeLessThanOrEqual(PARTS);
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
