import { REASONS } from "@sluice/core";
import { labelText } from "@sluice/gateway/admin";
import type { PrometheusText } from "@sluice/gateway/admin";
import type { VertexState } from "@sluice/pipeline";
import type { PipelineView } from "../flow-pipelines.ts";

interface Labelled {
  readonly labels: string;
  readonly vertex: VertexState;
}

/** A metric of every vertex: name, help, and its value; undefined where a vertex has none. */
type VertexMetric = readonly [string, string, (vertex: VertexState) => number | undefined];

/** Numaflow's names where it has one. docs/metrics.md has the table of all. */
const VERTEX_METRICS: readonly VertexMetric[] = [
  ["forwarder_read_total", "Messages that a vertex has read.", ({ counts }) => counts.read],
  [
    "forwarder_write_total",
    "Messages that a vertex has passed on.",
    ({ counts }) => counts.written,
  ],
  ["forwarder_drop_total", "Messages that a map has dropped.", ({ counts }) => counts.dropped],
  ["sluice_vertex_errors_total", "Tries that failed.", ({ counts }) => counts.failed],
  ["sluice_vertex_retries_total", "Tries after the first.", ({ counts }) => counts.retried],
  [
    "sluice_dead_letter_total",
    "Messages that no try could process.",
    ({ counts }) => counts.deadLettered,
  ],
  [
    "vertex_processing_rate",
    "Messages a second that a vertex reads.",
    ({ perSecond }) => perSecond,
  ],
  ["vertex_pending_messages", "Messages that wait before a vertex.", ({ queue }) => queue],
  ["sluice_vertex_in_flight", "Messages that a vertex works on.", ({ inFlight }) => inFlight],
  [
    "sluice_rate_limit_ceiling",
    "Messages a second that all replicas may read.",
    ({ fleet }) => fleet?.ceiling,
  ],
  ["sluice_rate_limit_share", "This replica's part of the ceiling.", ({ fleet }) => fleet?.share],
  ["sluice_rate_limit_usage", "Used part of the share, 0 to 1.", ({ fleet }) => fleet?.usage],
  [
    "sluice_rate_limit_members",
    "Replicas that share the ceiling.",
    ({ fleet }) => fleet?.membership?.size,
  ],
  [
    "sluice_rate_limit_store_age_seconds",
    "Seconds since the store answered.",
    ({ fleet }) =>
      fleet?.membership?.syncAgeMs === undefined ? undefined : fleet.membership.syncAgeMs / 1000,
  ],
];

/** Metrics of pipelines and vertices. */
export function addPipelineMetrics(
  text: PrometheusText,
  views: readonly PipelineView[],
  desired: ReadonlyMap<string, number>,
): void {
  const vertices: readonly Labelled[] = views.flatMap(({ state }) =>
    state.vertices.map((vertex) => ({
      labels: labelText({ pipeline: state.name, vertex: vertex.name, vertex_type: vertex.kind }),
      vertex,
    })),
  );
  for (const [name, help, valueOf] of VERTEX_METRICS) {
    const samples = vertices.flatMap(({ labels, vertex }) => {
      const value = valueOf(vertex);
      return value === undefined ? [] : [[labels, value] as const];
    });
    text.add({ name, help, type: name.endsWith("_total") ? "counter" : "gauge" }, samples);
  }
  text.add(
    {
      name: "sluice_vertex_waiting",
      help: "1 while a vertex waits for this reason.",
      type: "gauge",
    },
    views.flatMap(({ state }) =>
      state.vertices.flatMap(({ name: vertex, waiting }) =>
        REASONS.filter((reason) => waiting?.reason === reason).map(
          (reason) => [labelText({ pipeline: state.name, vertex, reason }), 1] as const,
        ),
      ),
    ),
  );
  text.add(
    { name: "sluice_pipeline_up", help: "1 while a pipeline runs.", type: "gauge" },
    views.map(({ state, failure }) => [
      labelText({ pipeline: state.name }),
      failure === undefined && state.status === "running" ? 1 : 0,
    ]),
  );
  text.add(
    {
      name: "sluice_pipeline_unacknowledged",
      help: "Messages read and not acknowledged.",
      type: "gauge",
    },
    views.map(({ state }) => [labelText({ pipeline: state.name }), state.unacknowledged]),
  );
  text.add(
    {
      name: "desired_replicas",
      help: "Replicas that would read the backlog in time.",
      type: "gauge",
    },
    [...desired].map(([pipeline, count]) => [labelText({ pipeline }), count]),
  );
}
