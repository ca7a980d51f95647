/** `version-traceid-parentid-flags`, lower-case hex. Later versions may add parts behind a dash. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** A key of `tracestate`, with or without a tenant, and its value: visible ASCII without comma and equals sign. */
const STATE_MEMBER =
  /^(?:[a-z\d][a-z\d_\-*/]{0,255}|[a-z\d][a-z\d_\-*/]{0,240}@[a-z][a-z\d_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Members of one `tracestate`, as W3C bounds them. */
const STATE_MEMBERS_MAX = 32;

/** Whether W3C's Trace Context can parse it. Version `ff` and ids of zeros are invalid; version `00` has four parts. */
function isTraceparent(text: string): boolean {
  const [, version, traceId, parentId, more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || traceId === undefined || parentId === undefined) return false;
  if (version === "ff" || (version === "00" && more !== undefined)) return false;
  return /[^0]/.test(traceId) && /[^0]/.test(parentId);
}

function isTracestate(text: string): boolean {
  const members = text
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  if (members.length === 0 || members.length > STATE_MEMBERS_MAX) return false;
  const keys = new Set(members.map((member) => member.split("=")[0]));
  return keys.size === members.length && members.every((member) => STATE_MEMBER.test(member));
}

/**
 * Removes what W3C says to drop: a `traceparent` that cannot be parsed, with its `tracestate`; a `tracestate` without
 * a `traceparent`, or that cannot be parsed.
 */
export function dropWrongTrace(headers: Record<string, string>): void {
  const { traceparent, tracestate } = headers;
  if (traceparent !== undefined && !isTraceparent(traceparent)) delete headers["traceparent"];
  if (tracestate === undefined) return;
  if (headers["traceparent"] === undefined || !isTracestate(tracestate))
    delete headers["tracestate"];
}
