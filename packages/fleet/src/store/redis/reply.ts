import { PARTS } from "../pool-store.ts";
import type { PoolLimits, SavedLevel, SyncReply, SyncRequest } from "../pool-store.ts";
import { StoreError } from "../store-error.ts";

/** A number of at most 16 digits, without a sign, a point or leading zeros. */
const WHOLE = /^(?:0|[1-9]\d{0,15})$/;
const LEFT: ReadonlySet<string> = new Set<SavedLevel["left"]>([
  "running",
  "redeploy",
  "pause",
  "crash",
]);
const FIELDS = 12;

/** Reads what the sync script has answered. Whatever is not exactly as it should be is refused. */
export function readSyncReply(reply: unknown, request: SyncRequest): SyncReply {
  const fields = fieldsOf(reply);
  if (fields.length === 1 && fields[0] === "refused") return { kind: "refused" };
  if (fields.length !== FIELDS || fields[0] !== "counted") throw nonsense("its fields");
  const [, verdict = "", ...rest] = fields;
  if (verdict !== "agree" && verdict !== "disagree") throw nonsense("the verdict");
  const [size = "", live = "", rank = "", roster = "", storeMs = "", parts = "", ...found] = rest;
  const [level = "", left = "", version = "", text = ""] = found;
  const counted = {
    size: whole("the size", size, 1),
    live: whole("the number of members", live, 1),
    rank: whole("the rank", rank, 0),
    roster: String(whole("the roster", roster, 0)),
    storeMs: whole("the time", storeMs, 0),
  };
  if (counted.rank >= counted.live) throw nonsense("the rank");
  if (verdict === "agree" && counted.size !== counted.live) throw nonsense("the verdict");
  return {
    kind: "counted",
    verdict,
    ...counted,
    parts: partsOf(parts, request),
    saved: savedOf(level, left),
    limits: limitsOf(version, text, request),
  };
}

/** Reads what the script that sets limits has answered. */
export function readVersion(reply: unknown): number {
  if (typeof reply !== "string") throw nonsense("the version");
  return whole("the version", reply, 1);
}

/** Reads what the leave script has answered. */
export function readLeft(reply: unknown): void {
  if (reply !== "left" && reply !== "other") throw nonsense("the word");
}

function partsOf(parts: string, { demand }: SyncRequest): number | undefined {
  if (demand === undefined) {
    if (parts !== "") throw nonsense("parts that nobody asked for");
    return undefined;
  }
  return whole("the parts", parts, 0, PARTS);
}

function savedOf(level: string, left: string): SavedLevel | undefined {
  if (level === "" && left === "") return undefined;
  if (!isLeft(left)) throw nonsense("how the level was left");
  return { level: whole("the level", level, 0), left };
}

function limitsOf(version: string, text: string, request: SyncRequest): PoolLimits | undefined {
  if (version === "" && text === "") return undefined;
  return { version: whole("the version", version, request.limitsVersion + 1), text };
}

function fieldsOf(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw nonsense("its shape");
  return reply.map((field: unknown) => {
    if (typeof field !== "string") throw nonsense("its shape");
    return field;
  });
}

function isLeft(word: string): word is SavedLevel["left"] {
  return LEFT.has(word);
}

function whole(
  what: string,
  digits: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const number = Number(digits);
  if (!WHOLE.test(digits) || number < min || number > max) throw nonsense(what);
  return number;
}

function nonsense(what: string): StoreError {
  return new StoreError(`Redis answered what makes no sense: ${what}`);
}
