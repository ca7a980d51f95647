/** What `sluice init` can write. */
export const FLOW_KINDS = ["whole", "gateway", "pipeline"] as const;
export type FlowKind = (typeof FLOW_KINDS)[number];

const HEAD = `# What sluice run starts. sluice check reports every mistake, each with its line. Changes of limits and
# pipelines are taken over while it runs. sluice schema --help says how an editor completes the keys.

# Names this flow in logs and in the store. Processes with the same name and store share their limits.
name: NAME

# memory: one process. To run several that share every limit:
#   store: { redis: { url: "redis://127.0.0.1:6379" } }
store: memory

# The dashboard, sluice why and sluice top, and /metrics. On another address than loopback it needs a
# tokenFile, with a token that callers send.
admin: { listen: 127.0.0.1:7070 }
`;

const GATEWAY = `
# Pulsar clients of any language connect here.
gateway:
  listen: pulsar://127.0.0.1:6650
  # embedded: a broker inside this process. In front of a cluster: pulsar://broker:6650
  upstream: embedded
  # Where the embedded broker keeps messages; memory forgets them at the end.
  data: ./sluice-data
  # Who may do what: auth with a token secret or public key, and roles. Without it, anybody on this machine.
  limits:
    # All topics together.
    broker: { messages: 20000/s, bytes: 50MB/s }
    # Topics by name. A producer that sends more waits; producers of other topics do not.
    topics:
      public/default/orders: { messages: 20/s, bytes: 1MB/s }
    # Several topics that share one limit:
    #   groups: { analytics: { topics: ["public/analytics/*"], messages: 5000/s } }
    # All bytes that wait in this process.
    memory: 128MB
`;

const TRAFFIC = `
pipelines:
  # Stands in for your producers. It makes 25 messages a second and the topic takes 20, so that sluice why has
  # something to say. Delete it when your own connect.
  traffic:
    vertices:
      - { name: make, source: { generator: { rate: 25/s } } }
      - { name: publish, sink: { pulsar: { topic: public/default/orders } } }

  # Reads the topic.
  orders:
`;

const PIPELINES = `
pipelines:
  orders:
`;

const DEAD_LETTER = `    # A message that fails in 5 tries goes here, with its error.
    deadLetter: { file: { path: ./failed.ndjson } }
    vertices:
`;

const FROM_TOPIC = `      - name: in
        source: { pulsar: { topic: public/default/orders, subscription: orders } }
`;

const FROM_GENERATOR = `      # Makes 25 messages a second. Others: pulsar, kafka, nats, redis, http, file, stdin.
      - name: in
        source: { generator: { rate: 25/s } }
`;

const READ_LIMIT = `        # What all replicas read together: MAX messages a second, from 5/s on, reached in 10 s.
        limits: { rateLimit: { max: MAX, min: 5, rampUpDuration: 10s } }
      # To change messages on the way, export default a function of a message from a module:
      #   - { name: enrich, map: { module: ./enrich.mjs } }
`;

const SINK = `      # Counts messages and keeps none. To call a service, with a concurrency that is found by itself and a
      # pause when the service says 429 or 503:
      #   sink: { http: { url: "http://127.0.0.1:9000/", request: { concurrency: adaptive } } }
      - name: out
        sink: { blackhole: {} }
`;

const pipelineOf = (source: string, max: number): string =>
  `${DEAD_LETTER}${source}${READ_LIMIT.replaceAll("MAX", String(max))}${SINK}`;

const BODIES: Readonly<Record<FlowKind, string>> = {
  whole: `${GATEWAY}${TRAFFIC}${pipelineOf(FROM_TOPIC, 100)}`,
  gateway: GATEWAY,
  pipeline: `${PIPELINES}${pipelineOf(FROM_GENERATOR, 20)}`,
};

/** A flow file that runs as it is, without any server, and says in comments what to change. */
export function flowTemplate(kind: FlowKind, name: string): string {
  return HEAD.replace("NAME", name) + BODIES[kind];
}
