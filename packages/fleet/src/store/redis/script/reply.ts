import type { RefusalCause } from "../../../ledger/ledger.ts";
import { PARTS } from "../../../ledger/parts.ts";
import type { SavedLevel, SyncReply, SyncRequest, Told } from "../../pool-store.ts";
import { StoreError } from "../../store-error.ts";

/** A number of at most 16 digits, without a sign, a point or leading zeros. */
const WHOLE = /^(?:0|[1-9]\d{0,15})$/;
const LEFT: ReadonlySet<string> = new Set<SavedLevel["left"]>([
  "running",
  "redeploy",
  "pause",
  "crash",
]);
const REASONS: ReadonlySet<string> = new Set<Told["reason"]>([
  "kept",
  "asked-back",
  "grown",
  "no-room",
  "learning",
]);
const CAUSES: ReadonlySet<string> = new Set<RefusalCause>([
  "id-taken",
  "pool-full",
  "other-timing",
]);
/** Fields of a share, the text of limits not counted: that may contain spaces, and comes last. */
const FIELDS = 15;

/** Reads what the sync script has answered. Any other form is refused. */
export function readSyncReply(reply: unknown, request: SyncRequest): SyncReply {
  const fields = fieldsOf(reply);
  const [kind = "", why = ""] = fields;
  if (kind === "late" && fields.length === 1) return { kind };
  if (kind === "refused" && fields.length === 2 && isCause(why)) return { kind, why };
  if (kind !== "told" || fields.length !== FIELDS + 1) throw nonsense("its fields");
  const [, told = "", renewed = "", reason = "", fair = "", members = "", ...rest] = fields;
  const [learningMs = "", settled = "", rank = "", storeMs = "", run = "", ...found] = rest;
  const [level = "", left = "", version = "", newer = "", text = ""] = found;
  if (!isReason(reason)) throw nonsense("the reason");
  const count = whole("the number of members", members, 1);
  const limitsVersion = whole("the version of the limits", version, 0);
  const isNewer = flag("whether limits follow", newer);
  if (isNewer !== limitsVersion > request.limits.version) throw nonsense("the limits");
  if (!isNewer && text !== "") throw nonsense("its fields");
  return {
    kind,
    told: whole("the share", told, 0, PARTS),
    isRenewed: flag("whether the share is renewed", renewed),
    reason,
    fair: whole("the fair share", fair, 0, PARTS),
    members: count,
    learningMs: whole("the learning time", learningMs, 0),
    isSettled: flag("whether the pool is settled", settled),
    rank: rank === "" ? undefined : whole("the rank", rank, 0, count - 1),
    storeMs: whole("the time", storeMs, 0),
    hasRunId: flag("whether the run is known", run),
    saved: savedOf(level, left),
    limitsVersion,
    limits: isNewer ? { version: limitsVersion, text } : undefined,
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

function savedOf(level: string, left: string): SavedLevel | undefined {
  if (level === "" && left === "") return undefined;
  if (!isLeft(left)) throw nonsense("how the level was left");
  return { level: whole("the level", level, 0), left };
}

function fieldsOf(reply: unknown): string[] {
  if (typeof reply !== "string") throw nonsense("its shape");
  const words = reply.split(" ");
  if (words.length <= FIELDS) return words;
  return [...words.slice(0, FIELDS), words.slice(FIELDS).join(" ")];
}

function isReason(word: string): word is Told["reason"] {
  return REASONS.has(word);
}

function isCause(word: string): word is RefusalCause {
  return CAUSES.has(word);
}

export function flag(what: string, digit: string): boolean {
  if (digit !== "0" && digit !== "1") throw nonsense(what);
  return digit === "1";
}

function isLeft(word: string): word is SavedLevel["left"] {
  return LEFT.has(word);
}

export function whole(
  what: string,
  digits: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const number = Number(digits);
  if (!WHOLE.test(digits) || number < min || number > max) throw nonsense(what);
  return number;
}

export function nonsense(what: string): StoreError {
  return new StoreError(`Redis answered what makes no sense: ${what}`);
}
