/** Every metric with its labels, taken from the functions that write `/metrics`. */
import { writeMetrics } from "../../../packages/gateway/dist/admin/observe/metrics.js";
import { GateCounts } from "../../../packages/sluice/dist/pipelines/observe/gate-counts.js";
import { addGateMetrics } from "../../../packages/sluice/dist/pipelines/observe/gate-metrics.js";
import { addPipelineMetrics } from "../../../packages/sluice/dist/pipelines/observe/pipeline-metrics.js";
import { table } from "./markdown.mjs";

const GROUPS = [
  {
    title: "Gateway",
    text: "At most 1,000 topics and 5,000 subscriptions have series of their own, those with the largest backlog first; of limiters the 1,000 that made producers wait longest.",
    owns: (name) =>
      /^(pulsar_|sluice_(publish|limit|held|victim|throttle|connections|paused|refused|memory|pending|unread|open|metrics))/.test(
        name,
      ),
  },
  {
    title: "Pipelines",
    text: "A series without a value, such as the backlog of a source whose server does not tell it, is left out.",
    owns: (name) =>
      /^(forwarder_|vertex_|desired_|sluice_(vertex|rate_limit|pipeline|dead_letter))/.test(name),
  },
  {
    title: "Gates of HTTP sinks",
    text: "A histogram has the series `…_bucket` with the label `le`, `…_sum` and `…_count`. Bounds of times are 1 ms to 60 s, of requests 1 to 1,024 by powers of two. Limit and in flight are histograms as in Vector, because several values within one scrape matter; the gauges have the present value.",
    owns: (name) => /^(adaptive_concurrency_|sluice_gate_)/.test(name),
  },
  { title: "Process", text: "", owns: () => true },
];

const NAMED_AFTER = [
  [/^pulsar_/, "Pulsar"],
  [/^(forwarder_|vertex_)/, "Numaflow"],
  [/^adaptive_concurrency_/, "Vector"],
];

/** @returns {Promise<string>} */
export async function metricsPage() {
  const rest = await collect();
  const sections = GROUPS.flatMap(({ title, text, owns }) => {
    const own = rest.filter(({ name }) => owns(name));
    for (const metric of own) rest.splice(rest.indexOf(metric), 1);
    return [`## ${title}`, ...(text === "" ? [] : [text]), tableOf(own)];
  });
  return [
    "# Metrics",
    "`/metrics` of the administration has all of them in Prometheus' text format, and `sluice run` sends them to a receiver of [OpenTelemetry](opentelemetry.md). Both are written from one collection, so names, labels and values are the same. Generated from that collection: `npm run docs:reference`.",
    ...sections,
    "",
  ].join("\n\n");
}

function tableOf(metrics) {
  return table(
    ["metric", "type", "labels", "what", "named after"],
    metrics.map(({ name, type, help, labels }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(", "),
      help,
      NAMED_AFTER.find(([pattern]) => pattern.test(name))?.[1] ?? "",
    ]),
  );
}

/** Writes the metrics of a process that has one of everything, and keeps names, help, types and labels. */
async function collect() {
  const found = [];
  const keep = (metric, samples) => {
    const labels = new Set([...samples].flatMap(([own]) => Object.keys(own)));
    found.push({ ...metric, labels: [...labels] });
  };
  const writer = {
    add: keep,
    addHistogram: (metric, samples) => keep({ ...metric, type: "histogram" }, samples),
  };
  await writeMetrics(writer, {
    gateway: { cluster: "standalone", stats: brokerStats(), throttling: throttling() },
    events: new Map([["kind", 1]]),
    uptimeMs: 0,
    residentBytes: 0,
    nextTurn: () => Promise.resolve(),
    addMetrics: (to) => {
      addPipelineMetrics(to, [{ state: pipelineState() }], new Map([["orders", 1]]));
      addGateMetrics(to, [{ labels: { pipeline: "orders", vertex: "out" }, counts: gate() }]);
    },
  });
  return found;
}

const TOPIC = "persistent://public/default/orders";
const NO_RATE = { messagesPerSecond: 0, bytesPerSecond: 0, messages: 0, bytes: 0 };

function brokerStats() {
  const subscription = { name: "shop", backlogEntries: 0, delayedEntries: 0, unackedMessages: 0 };
  return {
    topics: [
      {
        name: TOPIC,
        in: NO_RATE,
        out: NO_RATE,
        producerCount: 0,
        sizeBytes: 0,
        subscriptions: [{ ...subscription, out: NO_RATE, consumerCount: 0 }],
      },
    ],
    connections: 0,
  };
}

function throttling() {
  const pause = { reason: "memory", causeTopic: TOPIC, pausedMs: 0, isPaused: true };
  return {
    limited: [{ topic: TOPIC, limiter: "topic", reason: "topic-rate", frames: 0, limitedMs: 0 }],
    pauses: [{ pauses: [{ ...pause, victimTopics: [TOPIC] }] }],
    notices: { sent: 0, receipts: 0, unheeded: 0, violations: 0 },
    heldBytes: 0,
    levels: [{ limiter: "topic", topic: TOPIC, limit: { messages: 1 }, balance: { messages: 1 } }],
  };
}

function pipelineState() {
  const counts = { read: 0, written: 0, dropped: 0, failed: 0, retried: 0, deadLettered: 0 };
  const fleet = { ceiling: 0, share: 0, usage: 0, membership: { size: 1, syncAgeMs: 0 } };
  const work = { perSecond: 0, queue: 0, inFlight: 0, waiting: { reason: "fleet-share" } };
  return {
    name: "orders",
    status: "running",
    unacknowledged: 0,
    vertices: [{ name: "in", kind: "source", counts, fleet, ...work }],
  };
}

function gate() {
  const counts = new GateCounts();
  counts.limit = 1;
  counts.limited.set("concurrency", 1);
  counts.outcomes.set("ok", 1);
  counts.decisions.set("loss down", 1);
  return counts;
}
