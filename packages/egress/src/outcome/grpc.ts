import { parsePushback } from "../hints/pushback.ts";
import type { Verdict } from "./verdict.ts";

const SERVED: Verdict = { outcome: "ok", retriable: "never" };
/** No matter of load: an answer to what was asked, or a caller that has left. */
const TURNED_DOWN: Verdict = { outcome: "ignored", retriable: "never" };
const BROKEN: Verdict = { outcome: "failed", retriable: "if-idempotent" };

/**
 * Indexed by the number of the status. A peer that is exhausted or unavailable may have begun the call: a
 * response that is too large is RESOURCE_EXHAUSTED, a connection lost halfway is UNAVAILABLE.
 */
const VERDICTS: readonly (readonly [name: string, verdict: Verdict])[] = [
  ["OK", SERVED],
  ["CANCELLED", TURNED_DOWN],
  ["UNKNOWN", BROKEN],
  ["INVALID_ARGUMENT", TURNED_DOWN],
  ["DEADLINE_EXCEEDED", BROKEN],
  ["NOT_FOUND", TURNED_DOWN],
  ["ALREADY_EXISTS", TURNED_DOWN],
  ["PERMISSION_DENIED", TURNED_DOWN],
  ["RESOURCE_EXHAUSTED", { outcome: "busy", retriable: "if-idempotent", scope: "over-quota" }],
  ["FAILED_PRECONDITION", TURNED_DOWN],
  // A lost race: what has to be repeated begins earlier than this call.
  ["ABORTED", TURNED_DOWN],
  ["OUT_OF_RANGE", TURNED_DOWN],
  ["UNIMPLEMENTED", TURNED_DOWN],
  ["INTERNAL", BROKEN],
  ["UNAVAILABLE", { outcome: "busy", retriable: "if-idempotent", scope: "busy-here" }],
  ["DATA_LOSS", TURNED_DOWN],
  ["UNAUTHENTICATED", TURNED_DOWN],
];

const BY_CODE: ReadonlyMap<string, Verdict> = new Map([
  ...VERDICTS.flatMap(([name, verdict], code): [string, Verdict][] => [
    [name, verdict],
    [String(code), verdict],
  ]),
  // As Connect spells it.
  ["CANCELED", TURNED_DOWN],
]);

/**
 * What a gRPC status means for the peer's load and for a retry. The code comes as a number, as the
 * text of `grpc-status` or as a name; one that is not known counts as UNKNOWN.
 *
 * `pushback` is the text of `grpc-retry-pushback-ms`. It forbids a retry or puts it off, and a busy
 * peer that puts it off has refused on purpose, so the retry is safe. It permits none that the code
 * does not.
 */
export function classifyGrpc(code: number | string, pushback?: string): Verdict {
  const verdict = BY_CODE.get(String(code).toUpperCase()) ?? BROKEN;
  if (pushback === undefined || verdict.retriable === "never") return verdict;
  const hint = parsePushback(pushback);
  if (hint.kind === "never") return { ...verdict, retriable: "never" };
  const retriable = verdict.outcome === "busy" ? "safe" : verdict.retriable;
  return { ...verdict, retriable, pauseMs: hint.pauseMs };
}
