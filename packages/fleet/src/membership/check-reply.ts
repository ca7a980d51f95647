import { PARTS } from "../store/pool-store.ts";
import type { SyncReply, SyncRequest } from "../store/pool-store.ts";
import { StoreError } from "../store/store-error.ts";

const VERDICTS: readonly string[] = ["agree", "disagree"];

/** Refuses an answer that no store can mean, so that nothing is ever granted by it. */
export function checkReply(reply: SyncReply, { demand }: SyncRequest): SyncReply {
  if (reply.kind === "refused") return reply;
  const { verdict, size, live, rank, roster, storeMs, parts } = reply;
  requireSense("verdict", verdict, VERDICTS.includes(verdict));
  requireSense("live", live, isWhole(live, 1));
  requireSense("size", size, isWhole(size, 1) && (verdict === "disagree" || size === live));
  requireSense("rank", rank, isWhole(rank, 0) && rank < live);
  requireSense("roster", roster, typeof roster === "string" && roster !== "");
  requireSense("storeMs", storeMs, Number.isFinite(storeMs));
  const isTold = parts !== undefined && isWhole(parts, 0) && parts <= PARTS;
  requireSense("parts", parts, demand === undefined || isTold);
  return reply;
}

function isWhole(value: number, min: number): boolean {
  return Number.isSafeInteger(value) && value >= min;
}

function requireSense(name: string, value: unknown, isSense: boolean): void {
  if (isSense) return;
  throw new StoreError(`the store answered nonsense: ${name} is ${String(value)}`);
}
