import type { Clock } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import type { EventFeed } from "../../observe/event-feed.ts";
import { NO_ADDITION } from "../admin-addition.ts";
import type { AdminAddition } from "../admin-addition.ts";
import type { AdministrableGateway } from "../administered-broker.ts";
import type { MetricsWriter } from "./metrics-writer.ts";
import { writeMetrics } from "./metrics.ts";
import { observedGateway } from "./observed-gateway.ts";

/** What the metrics of a process are about. */
export interface MeteredProcess {
  /** Undefined in a process of pipelines alone. */
  readonly gateway?: AdministrableGateway | undefined;
  readonly events: EventFeed;
  readonly addition?: AdminAddition | undefined;
  readonly timer: Clock;
}

/** Writes every metric once, with its present value. Answered in turns: clients of a gateway are served in between. */
export type CollectMetrics = (to: MetricsWriter) => Promise<void>;

/** The metrics of a process: `docs/reference/metrics.md` has the table. The uptime counts from this call. */
export function processMetrics({
  gateway,
  events,
  addition = NO_ADDITION,
  timer,
}: MeteredProcess): CollectMetrics {
  const startedAtMs = timer.now();
  const observed = gateway && observedGateway(gateway);
  return async (to) =>
    writeMetrics(to, {
      nextTurn,
      gateway: observed && {
        cluster: observed.cluster,
        stats: await observed.stats(),
        throttling: observed.throttling.totals(),
      },
      events: events.counts,
      uptimeMs: timer.now() - startedAtMs,
      residentBytes: process.memoryUsage.rss(),
      addMetrics: addition.addMetrics,
    });
}
