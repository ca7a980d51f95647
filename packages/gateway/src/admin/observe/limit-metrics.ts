import type { LimitedTotal } from "../../ingress/desk/limited-times.ts";
import type { ConnectionPauses } from "../../ingress/ingress.ts";
import type { LevelState } from "../../ingress/limits/limit-settings.ts";
import type { ThrottlingTotals } from "../administered-broker.ts";
import { NO_LABELS } from "./metrics-writer.ts";
import type { Labels, MetricsWriter } from "./metrics-writer.ts";

/** Series of one metric; those with the longest waits are kept. */
const SERIES_MAX = 1_000;

/** What the limits of publishing did. */
export function addLimitMetrics(
  to: MetricsWriter,
  cluster: string,
  { limited, pauses, notices, heldBytes, levels }: ThrottlingTotals,
): void {
  addLimited(to, cluster, limited);
  to.add(
    { name: "sluice_held_bytes", help: "Bytes of frames that wait for a limit.", type: "gauge" },
    [[NO_LABELS, heldBytes]],
  );
  addPauses(to, pauses);
  const notice = (name: string, help: string, value: number): void =>
    to.add({ name, help, type: "counter" }, [[NO_LABELS, value]]);
  notice("sluice_throttle_notices_total", "Notices sent (PIP-385).", notices.sent);
  notice("sluice_throttle_receipts_total", "Receipts of notices.", notices.receipts);
  notice("sluice_throttle_unheeded_total", "Notices without a receipt in time.", notices.unheeded);
  notice("sluice_throttle_violations_total", "SENDs in spite of a receipt.", notices.violations);
  addLevels(to, levels);
}

function addLimited(to: MetricsWriter, cluster: string, all: readonly LimitedTotal[]): void {
  const longest = all.toSorted((a, b) => b.limitedMs - a.limitedMs).slice(0, SERIES_MAX);
  to.add(
    {
      name: "pulsar_publish_rate_limit_times",
      help: "SENDs that had to wait for a limit.",
      type: "counter",
    },
    longest.map(({ topic, limiter, frames }) => [
      { cluster, namespace: namespaceOf(topic), topic, limiter },
      frames,
    ]),
  );
  to.add(
    {
      name: "sluice_publish_limited_seconds_total",
      help: "Seconds in which a producer of the topic waited for the limiter.",
      type: "counter",
    },
    longest.map(({ topic, reason, limiter, limitedMs }) => [
      { topic, reason, limiter },
      limitedMs / 1000,
    ]),
  );
}

function addPauses(to: MetricsWriter, connections: readonly ConnectionPauses[]): void {
  const paused = new Map<string, number>();
  const victims = new Map<string, { readonly topic: string; readonly cause: string; ms: number }>();
  for (const { pauses } of connections)
    for (const { reason, causeTopic, pausedMs, isPaused, victimTopics } of pauses) {
      if (isPaused) paused.set(reason, (paused.get(reason) ?? 0) + 1);
      for (const topic of victimTopics) {
        const key = `${topic} ${causeTopic}`;
        const known = victims.get(key);
        if (known !== undefined) known.ms += pausedMs;
        else if (victims.size < SERIES_MAX)
          victims.set(key, { topic, cause: causeTopic, ms: pausedMs });
      }
    }
  to.add(
    {
      name: "sluice_limit_paused_connections",
      help: "Connections that are not read because of a limit, by reason.",
      type: "gauge",
    },
    [...paused].map(([reason, count]) => [{ reason }, count]),
  );
  to.add(
    {
      name: "sluice_victim_paused_seconds",
      help: "Seconds that open connections with the topic were not read because of another topic.",
      type: "gauge",
    },
    [...victims.values()].map(({ topic, cause, ms }) => [{ topic, because_of: cause }, ms / 1000]),
  );
}

function addLevels(to: MetricsWriter, levels: readonly LevelState[]): void {
  const units = ["messages", "bytes"] as const;
  const samples = (of: "limit" | "balance"): (readonly [Labels, number])[] =>
    levels.slice(0, SERIES_MAX).flatMap(({ limiter, topic = "", ...state }) =>
      units.flatMap((unit) => {
        const value = state[of][unit];
        return value === undefined ? [] : [[{ limiter, topic, unit }, value] as const];
      }),
    );
  to.add(
    { name: "sluice_limit_per_second", help: "The limit of a limiter.", type: "gauge" },
    samples("limit"),
  );
  to.add(
    {
      name: "sluice_limit_balance_tokens",
      help: "Tokens that a limiter has left; negative in debt.",
      type: "gauge",
    },
    samples("balance"),
  );
}

/** Of a full name. */
function namespaceOf(topic: string): string {
  return topic.split("://")[1]?.split("/").slice(0, 2).join("/") ?? "";
}
