import { expect, test } from "vitest";
import { PARTS } from "../ledger/parts.ts";
import type { SyncReply } from "../store/pool-store.ts";
import { checkReply } from "./check-reply.ts";
import { told } from "../../test/replies.ts";

const accepted: readonly object[] = [
  {},
  { told: 0, fair: 0 },
  { told: PARTS, fair: PARTS },
  { members: 3, rank: 2 },
  { rank: undefined },
];

test.each(accepted)("%j is sense", (part) => {
  const reply: SyncReply = { ...told(PARTS), ...part };
  expect(checkReply(reply)).toBe(reply);
});

test("a refusal and a late sync are sense", () => {
  for (const reply of [{ kind: "late" }, { kind: "refused", why: "id-taken" }] as const)
    expect(checkReply(reply)).toBe(reply);
});

const refused: readonly (readonly [object, string])[] = [
  [{ kind: "refused", why: "mood" }, "why is mood"],
  [{ kind: "other" }, "kind is other"],
  [{ told: PARTS + 1 }, "told is 1000000001"],
  [{ told: -1 }, "told is -1"],
  [{ told: 0.5 }, "told is 0.5"],
  [{ told: undefined }, "told is undefined"],
  [{ told: "5" }, "told is 5"],
  [{ fair: Number.NaN }, "fair is NaN"],
  [{ isRenewed: "yes" }, "isRenewed is yes"],
  [{ members: 0 }, "members is 0"],
  [{ rank: 1 }, "rank is 1"],
  [{ rank: -1 }, "rank is -1"],
  [{ learningMs: -1 }, "learningMs is -1"],
  [{ storeMs: Number.NaN }, "storeMs is NaN"],
  [{ limitsVersion: undefined }, "limitsVersion is undefined"],
];

test.each(refused)("%j is nonsense", (part, message) => {
  const reply = { ...told(PARTS), ...part } as SyncReply;
  expect(() => checkReply(reply)).toThrow(
    expect.objectContaining({
      code: "STORE",
      message: `the store answered nonsense: ${message}`,
    }),
  );
});
