import type { PipelineState, VertexState } from "../run/pipeline-state.ts";

type Labels = Readonly<Record<string, string>>;

/** A metric of a pipeline, and its value for each set of labels. A series without a value is left out. */
export interface PipelineMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  readonly samplesOf: (state: PipelineState) => readonly (readonly [Labels, number])[];
}

/** Every metric of a pipeline, with Numaflow's names where it has one. Prometheus and OpenTelemetry read this table. */
export const PIPELINE_METRICS: readonly PipelineMetric[] = [
  ofVertex("forwarder_read_total", "Messages that a vertex has read.", ({ counts }) => counts.read),
  ofVertex(
    "forwarder_write_total",
    "Messages that a vertex has passed on; of a sink, those that its server has.",
    ({ counts }) => counts.written,
  ),
  ofVertex(
    "forwarder_drop_total",
    "Messages that a map has dropped.",
    ({ counts }) => counts.dropped,
  ),
  ofVertex("sluice_vertex_errors_total", "Tries that failed.", ({ counts }) => counts.failed),
  ofVertex("sluice_vertex_retries_total", "Tries after the first.", ({ counts }) => counts.retried),
  ofVertex(
    "sluice_dead_letter_total",
    "Messages that no try could process.",
    ({ counts }) => counts.deadLettered,
  ),
  ofVertex(
    "vertex_processing_rate",
    "Messages a second that a vertex reads, over the last seconds.",
    ({ perSecond }) => perSecond,
  ),
  ofVertex(
    "vertex_pending_messages",
    "Messages that wait before a vertex; of a source its backlog.",
    ({ queue }) => queue,
  ),
  ofVertex(
    "sluice_vertex_in_flight",
    "Messages that a vertex works on.",
    ({ inFlight }) => inFlight,
  ),
  ofVertex(
    "sluice_rate_limit_ceiling",
    "Messages a second that all replicas may read, ramp included.",
    ({ fleet }) => fleet?.ceiling,
  ),
  ofVertex(
    "sluice_rate_limit_share",
    "This replica's part of the ceiling.",
    ({ fleet }) => fleet?.share,
  ),
  ofVertex(
    "sluice_rate_limit_usage",
    "Used part of the share in the last second with a read, 0 to 1.",
    ({ fleet }) => fleet?.usage,
  ),
  ofVertex(
    "sluice_rate_limit_members",
    "Replicas that share the ceiling.",
    ({ fleet }) => fleet?.membership?.size,
  ),
  ofVertex(
    "sluice_rate_limit_store_age_seconds",
    "Seconds since the store answered.",
    ({ fleet }) => {
      const ageMs = fleet?.membership?.syncAgeMs;
      return ageMs === undefined ? undefined : ageMs / 1000;
    },
  ),
  {
    name: "sluice_vertex_waiting",
    help: "1 while a vertex waits for this reason.",
    type: "gauge",
    samplesOf: ({ name: pipeline, vertices }) =>
      vertices.flatMap(({ name: vertex, waiting }) =>
        waiting?.reason === undefined
          ? []
          : [[{ pipeline, vertex, reason: waiting.reason }, 1] as const],
      ),
  },
  {
    name: "sluice_pipeline_up",
    help: "1 while a pipeline runs.",
    type: "gauge",
    samplesOf: ({ name: pipeline, status }) => [[{ pipeline }, status === "running" ? 1 : 0]],
  },
  {
    name: "sluice_pipeline_unacknowledged",
    help: "Messages read and not acknowledged to the source.",
    type: "gauge",
    samplesOf: ({ name: pipeline, unacknowledged }) => [[{ pipeline }, unacknowledged]],
  },
];

function ofVertex(
  name: string,
  help: string,
  valueOf: (vertex: VertexState) => number | undefined,
): PipelineMetric {
  return {
    name,
    help,
    type: name.endsWith("_total") ? "counter" : "gauge",
    samplesOf: ({ name: pipeline, vertices }) =>
      vertices.flatMap((vertex) => {
        const value = valueOf(vertex);
        const labels = { pipeline, vertex: vertex.name, vertex_type: vertex.kind };
        return value === undefined ? [] : [[labels, value] as const];
      }),
  };
}
