import { expect, test } from "vitest";
import { PARTS } from "../store/pool-store.ts";
import type { SyncReply, SyncRequest } from "../store/pool-store.ts";
import { checkReply } from "./check-reply.ts";

const SENSE = {
  kind: "counted",
  verdict: "agree",
  size: 3,
  live: 3,
  rank: 2,
  roster: "1",
  storeMs: 1_000_000,
  parts: undefined,
  saved: undefined,
  limits: undefined,
} as const satisfies SyncReply;

const REQUEST: SyncRequest = {
  pool: "pool",
  member: "a",
  nonce: "n",
  sequence: 1,
  size: undefined,
  level: undefined,
  limitsVersion: 0,
  demand: undefined,
  times: { staleMs: 1300, learningMs: 1100, resumeTtlMs: 0 },
};
const BY_DEMAND = { ...REQUEST, demand: { entitled: 0, held: 0, wanted: 0 } };

const accepted: readonly (readonly [object, SyncRequest])[] = [
  [{}, REQUEST],
  [{ verdict: "disagree", size: 5 }, REQUEST],
  [{ verdict: "disagree", size: 1 }, REQUEST],
  [{ parts: 0 }, BY_DEMAND],
  [{ parts: PARTS }, BY_DEMAND],
];

test.each(accepted)("%j is sense", (part, request) => {
  const reply: SyncReply = { ...SENSE, ...part };
  expect(checkReply(reply, request)).toBe(reply);
});

test("a refusal is sense", () => {
  expect(checkReply({ kind: "refused" }, BY_DEMAND)).toEqual({ kind: "refused" });
});

const refused: readonly (readonly [object, SyncRequest, string])[] = [
  [{ verdict: "maybe" }, REQUEST, "verdict is maybe"],
  [{ size: 1 }, REQUEST, "size is 1"],
  [{ size: 0, live: 0, rank: 0 }, REQUEST, "live is 0"],
  [{ verdict: "disagree", size: 0 }, REQUEST, "size is 0"],
  [{ verdict: "disagree", size: Number.NaN }, REQUEST, "size is NaN"],
  [{ live: 2.5, size: 2.5 }, REQUEST, "live is 2.5"],
  [{ live: "3" }, REQUEST, "live is 3"],
  [{ live: 1e300, size: 1e300 }, REQUEST, "live is 1e+300"],
  [{ live: undefined, size: undefined }, REQUEST, "live is undefined"],
  [{ rank: 3 }, REQUEST, "rank is 3"],
  [{ rank: -1 }, REQUEST, "rank is -1"],
  [{ storeMs: Number.NaN }, REQUEST, "storeMs is NaN"],
  [{ storeMs: undefined }, REQUEST, "storeMs is undefined"],
  [{ parts: PARTS + 1 }, BY_DEMAND, "parts is 1000000001"],
  [{ parts: -1 }, BY_DEMAND, "parts is -1"],
  [{ parts: 0.5 }, BY_DEMAND, "parts is 0.5"],
  [{ parts: undefined }, BY_DEMAND, "parts is undefined"],
];

test.each(refused)("%j is nonsense", (part, request, message) => {
  const reply = { ...SENSE, ...part };
  expect(() => checkReply(reply, request)).toThrow(
    expect.objectContaining({
      code: "STORE",
      message: `the store answered nonsense: ${message}`,
    }),
  );
});
