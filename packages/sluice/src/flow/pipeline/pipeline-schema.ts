import { described, duration, field, list, map, oneOf, record, whole } from "@sluice/lab/file";
import * as v from "valibot";
import { mapField, sinkField, sourceField } from "./connector-fields.ts";
import type { FlowPipeline, FlowVertex, FlowVertexLimits } from "./flow-pipeline.ts";
import { rateLimitField } from "./rate-limit-field.ts";

/** Pipelines of one file; each takes timers, buffers and connections. */
const PIPELINES_MAX = 100;
/** Vertices of one pipeline. */
const VERTICES_MAX = 50;
/** Messages of one read; more would hold them all in memory at once. */
const BATCH_MAX = 100_000;
const CONCURRENCY_MAX = 1_000;
const BUFFER_MAX = 1_000_000;
const ATTEMPTS_MAX = 1_000;

/** Names are parts of keys in the store, of metrics and of `pipeline/vertex`. */
const name = field<string>(
  (value) => typeof value === "string" && /^[-\w]{1,64}$/.test(value),
  "a name of 1 to 64 letters, digits, - and _",
  { type: "string", pattern: "^[-A-Za-z0-9_]{1,64}$" },
);

const limits: v.GenericSchema<unknown, FlowVertexLimits> = map({
  rateLimit: v.optional(
    described(rateLimitField, "Messages a second of all replicas together: Numaflow's block."),
  ),
  concurrency: v.optional(
    described(
      whole(1, CONCURRENCY_MAX),
      "Batches that the vertex works on at once. Default: 1, which keeps the order.",
    ),
  ),
  readBatchSize: v.optional(
    described(whole(1, BATCH_MAX), "Messages that one read takes at most. Default: 500."),
  ),
});

const ROLES = ["source", "map", "sink"] as const;

const vertex: v.GenericSchema<unknown, FlowVertex> = v.pipe(
  map({
    name: described(name, "Unique in its pipeline."),
    source: v.optional(described(sourceField, "Where messages come from. The first vertex.")),
    map: v.optional(described(mapField, "What is done with each message. Vertices in the middle.")),
    sink: v.optional(described(sinkField, "Where messages go. The last vertex.")),
    limits: v.optional(
      described(limits, "Limits of this vertex; the rest comes from the pipeline's limits."),
    ),
  }),
  v.check(
    (given) => ROLES.filter((role) => given[role] !== undefined).length === 1,
    ({ input }) => {
      const found = ROLES.filter((role) => input[role] !== undefined);
      const what = found.length === 0 ? "has none of" : `has ${found.join(" and ")} of`;
      return `${what} source, map and sink; expected one of them`;
    },
  ),
);

const pipeline: v.GenericSchema<unknown, FlowPipeline> = map({
  vertices: described(
    list(vertex, VERTICES_MAX, "a list of vertices: a source, maps, a sink"),
    "In the order of the messages: a source, any number of maps, a sink.",
  ),
  limits: v.optional(
    described(limits, "Limits of every vertex that has no other, field by field."),
  ),
  retry: v.optional(
    map({
      attempts: v.optional(
        described(
          whole(1, ATTEMPTS_MAX),
          "Tries of one message in one vertex, the first included. Default: 5.",
        ),
      ),
      backoff: v.optional(
        described(duration(), "Pause before the second try; it doubles. Default: 100ms."),
      ),
      backoffMax: v.optional(described(duration(), "The longest pause. Default: 10s.")),
    }),
  ),
  deadLetter: v.optional(
    described(
      sinkField,
      "A sink for messages that no try could process. Default: they are logged and lost.",
    ),
  ),
  drain: v.optional(
    described(duration(), "How long a stop waits for messages that were read. Default: 10s."),
  ),
  buffer: v.optional(
    described(
      whole(1, BUFFER_MAX),
      "Messages that wait between two vertices at most. Default: 2 × readBatchSize.",
    ),
  ),
  fleet: v.optional(
    map({
      maxMembers: v.optional(
        described(
          whole(1, 1_000),
          "The most replicas that will run; without the store each has the ceiling ÷ maxMembers. Default: 64.",
        ),
      ),
      replicas: v.optional(
        described(
          whole(1, 1_000_000),
          "Instead of a store: how many replicas run; each has the ceiling ÷ replicas.",
        ),
      ),
      share: v.optional(
        described(
          oneOf("demand", "equal"),
          "demand: what idle replicas leave goes to busy ones. equal: the same for all. Default: demand.",
        ),
      ),
      lease: v.optional(
        described(
          duration(),
          "How long a replica may use its share without the store. The share of one that was killed is free after 1.3 × this; the store is asked ten times a lease. Default: 5s.",
        ),
      ),
    }),
  ),
});

export const pipelinesField: v.GenericSchema<
  unknown,
  Readonly<Record<string, FlowPipeline>>
> = v.pipe(
  record(name, pipeline, "pipelines by their names"),
  v.check(
    (given) => Object.keys(given).length > 0,
    "is empty; expected at least one pipeline, or remove the key",
  ),
  v.check(
    (given) => Object.keys(given).length <= PIPELINES_MAX,
    ({ input }) =>
      `has ${Object.keys(input).length} pipelines; at most ${PIPELINES_MAX} run in one process`,
  ),
);
