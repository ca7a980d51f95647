import { PARTS } from "../ledger/parts.ts";
import type { RefusalCause } from "../ledger/ledger.ts";
import type { SyncReply } from "../store/pool-store.ts";
import { StoreError } from "../store/store-error.ts";

const CAUSES: readonly string[] = [
  "id-taken",
  "pool-full",
  "other-timing",
] satisfies RefusalCause[];

/** Refuses an answer that no store can mean, so that nothing is ever granted by it. */
export function checkReply(reply: SyncReply): SyncReply {
  switch (reply.kind) {
    case "late":
      return reply;
    case "refused":
      requireSense("why", reply.why, CAUSES.includes(reply.why));
      return reply;
    case "told":
      break;
    default:
      requireSense("kind", (reply as { readonly kind: unknown }).kind, false);
  }
  const { told, fair, members, rank, learningMs, storeMs, limitsVersion, isRenewed } = reply;
  requireSense("told", told, isWhole(told, 0, PARTS));
  requireSense("isRenewed", isRenewed, typeof isRenewed === "boolean");
  requireSense("fair", fair, isWhole(fair, 0, PARTS));
  requireSense("members", members, isWhole(members, 1));
  requireSense("rank", rank, rank === undefined || isWhole(rank, 0, members - 1));
  requireSense("learningMs", learningMs, isWhole(learningMs, 0));
  requireSense("storeMs", storeMs, Number.isFinite(storeMs));
  requireSense("limitsVersion", limitsVersion, isWhole(limitsVersion, 0));
  return reply;
}

function isWhole(value: number, min: number, max: number = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

function requireSense(name: string, value: unknown, isSense: boolean): void {
  if (isSense) return;
  throw new StoreError(`the store answered nonsense: ${name} is ${String(value)}`);
}
