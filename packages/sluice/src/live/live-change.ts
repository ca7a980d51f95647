import { REASONS } from "@sluice/core";
import type { Reason } from "@sluice/core";
import { describeEvent } from "@sluice/gateway/admin";
import type { TimedEvent } from "@sluice/gateway/admin";
import type { LiveChange } from "./live-message.ts";

/** Events of single messages, requests and clients: they are in the log, and are no decision. */
const NO_DECISIONS: ReadonlySet<string> = new Set([
  "client-refused",
  "client-closed",
  "target-refused",
  "vertex-request-limited",
  "vertex-message-failed",
  "vertex-connector",
]);

/** Events that come again and again while a limit holds. */
const REPEATING: ReadonlySet<string> = new Set([
  "publish-throttled",
  "publish-resumed",
  "producer-told",
  "socket-paused",
  "socket-resumed",
  "vertex-throttled",
  "vertex-flowing",
  "vertex-cut",
  "vertex-paused",
  "vertex-read-failed",
  "vertex-ack-failed",
  "vertex-sync-failed",
  "vertex-sync-back",
]);

/** Left out of names. `non-persistent://` stays: it tells what a topic is. */
const PERSISTENT = /(?<!non-)persistent:\/\//g;

/** Keys of events that name what the event is about, the nearest first. */
const SUBJECTS = ["producer", "target", "topic", "address", "subject", "upstream"];

/** The line of "What changed" for an event; undefined if nothing was decided. */
export function liveChange({ id, atMs, event }: TimedEvent): LiveChange | undefined {
  if (NO_DECISIONS.has(event.kind)) return undefined;
  const facts: Readonly<Record<string, unknown>> = { ...event };
  const text = describeEvent(event).replaceAll(PERSISTENT, "");
  const named = SUBJECTS.map((key) => facts[key]).filter((value) => typeof value === "string");
  const subject = named
    .map((name) => name.replace(PERSISTENT, ""))
    .find((name) => name !== "" && text.includes(name));
  const { reason } = facts;
  return {
    id,
    atMs,
    kind: event.kind,
    ...(isReason(reason) && { reason }),
    ...(subject !== undefined && { subject }),
    text,
    ...(REPEATING.has(event.kind) && { series: [event.kind, reason, ...named].join(" ") }),
  };
}

function isReason(value: unknown): value is Reason {
  return REASONS.some((reason) => reason === value);
}
