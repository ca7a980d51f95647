import type { BrokerEvent } from "@sluice/gateway";

/** As log collectors know them. */
export type Level = "info" | "warn" | "error";

/** Something is broken, and an operator has to look. */
const ERRORS: ReadonlySet<string> = new Set([
  "damaged",
  "error",
  "flow-unhandled-error",
  "pipeline-failed",
  "storage-full",
  "topic-stopped",
]);

/** Something does not go as it should; it may heal by itself. Throttling is what limits are for, and no warning. */
const WARNINGS: ReadonlySet<string> = new Set([
  "client-refused",
  "consumer-blocked",
  "cursor-reset",
  "flow-rejected",
  "flow-telemetry-lost",
  "limit-not-stored",
  "memory-full",
  "producers-blocked",
  "store-lost",
  "store-warning",
  "tail-cut",
  "target-refused",
  "topic-migrated",
  "upstream-lost",
  "vertex-ack-failed",
  "vertex-learning",
  "vertex-message-failed",
  "vertex-read-failed",
  "vertex-request-limited",
  "vertex-sync-failed",
]);

/** How much an event matters. That of a connector says so itself. */
export function levelOf(event: BrokerEvent): Level {
  const { kind } = event;
  if (kind === "vertex-connector") {
    const { level } = event as { readonly level?: unknown };
    return level === "error" ? "error" : level === "warning" ? "warn" : "info";
  }
  if (ERRORS.has(kind)) return "error";
  return WARNINGS.has(kind) ? "warn" : "info";
}
