import type { Position } from "../../../storage/position.ts";
import type { SeekPoint } from "../../../topic/consumer/consumer-handle.ts";
import { integerOf } from "../../http/exact-json.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf, shown } from "../../http/request.ts";

/** Java's largest long: the ledger and entry of MessageId.latest. */
const LATEST = 2n ** 63n - 1n;

/** An id as Pulsar's REST answers have it; the entry before a ledger's first is -1. */
export function messageIdJson({ ledgerId, entryId }: Position): object {
  return { ledgerId, entryId, partitionIndex: -1, batchIndex: -1, batchSize: 0 };
}

/** The place that the body of a request names: an id with `excluded`, as ResetCursorData has it. */
export function seekPointOf(body: unknown): SeekPoint {
  const { ledgerId: ledger, entryId: entry, excluded, isExcluded } = objectOf("the body", body);
  const ledgerId = longOf("ledgerId", ledger);
  const entryId = longOf("entryId", entry);
  if (ledgerId === LATEST) return { kind: "latest" };
  if (ledgerId < 0n) return { kind: "earliest" };
  const isAfter = excluded === true || isExcluded === true;
  const position = { ledgerId: Number(ledgerId), entryId: Number(entryId) + (isAfter ? 1 : 0) };
  return { kind: "at", position };
}

function longOf(name: string, value: unknown): bigint {
  const long = integerOf(value);
  if (long === undefined || BigInt.asIntN(64, long) !== long)
    throw new HttpError(400, `${name} is ${shown(value)}; it must be an integer of 64 bits`);
  return long;
}
