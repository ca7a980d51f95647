/** A flow file with one mistake, and the whole message about it. */
export interface WrongFlowFile {
  readonly kind: string;
  readonly text: string;
  readonly told: string;
}

/** One for each kind of mistake. A changed message is changed here, where a reader sees it beside its file. */
export const WRONG_FLOW_FILES: readonly WrongFlowFile[] = [
  {
    kind: "an empty file",
    text: "",
    told: "flow.yaml:1: the flow file has neither gateway nor pipelines; expected at least one of them",
  },
  {
    kind: "a list instead of a map",
    text: "- gateway",
    told: 'flow.yaml:1: the flow file is ["gateway"]; expected a map with the keys name, store, admin, gateway and pipelines',
  },
  {
    kind: "no YAML",
    text: "gateway: {",
    told: "flow.yaml:1: not valid YAML: Flow map in block collection must be sufficiently indented and end with a }",
  },
  {
    kind: "a name that no key can have",
    text: "gateway: { limits: { topics: { constructor: { messages: 5/s } } } }",
    told: "flow.yaml:1: gateway.limits.topics.constructor is a name that JavaScript reserves (constructor, prototype); expected another one",
  },
  {
    kind: "a key that stands twice",
    text: "gateway: {}\ngateway: {}",
    told: 'flow.yaml:2: the key "gateway" stands twice in one map; expected each key once',
  },
  {
    kind: "two documents",
    text: "gateway: {}\n---\ngateway: {}",
    told: "flow.yaml:2: not valid YAML: a second document begins after ---; expected one document in a file",
  },
  {
    kind: "letters of a key in the wrong order",
    text: "nmae: shop\ngateway: {}",
    told: "flow.yaml:1: nmae is not known here; did you mean name? known keys: name, store, admin, gateway, pipelines",
  },
  {
    kind: "one port for the gateway and its administration",
    text: "admin: { listen: 127.0.0.1:6650 }\ngateway: {}",
    told: "flow.yaml:2: gateway.listen is 127.0.0.1:6650, where admin.listen listens too; expected a port of its own",
  },
  {
    kind: "one port for two sources",
    text: "pipelines:\n  a: { vertices: [{ name: in, source: { http: { listen: 127.0.0.1:8080 } } }, { name: out, sink: { stdout: {} } }] }\n  b: { vertices: [{ name: in, source: { http: { listen: 127.0.0.1:8080 } } }, { name: out, sink: { stdout: {} } }] }",
    told: "flow.yaml:3: pipelines.b.vertices[0].source.http.listen is 127.0.0.1:8080, where pipelines.a.vertices[0].source.http.listen listens too; expected a port of its own",
  },
  {
    kind: "a misspelt key of the root",
    text: "gatewy: {}\ngateway: {}",
    told: "flow.yaml:1: gatewy is not known here; did you mean gateway? known keys: name, store, admin, gateway, pipelines",
  },
  {
    kind: "neither gateway nor pipelines",
    text: "name: shop",
    told: "flow.yaml:1: the flow file has neither gateway nor pipelines; expected at least one of them",
  },
  {
    kind: "a name that no key of a store can have",
    text: "name: my shop\npipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:1: name is "my shop"; expected 1 to 64 letters, digits, ., _ and -, for keys in the store',
  },
  {
    kind: "a store that is no store",
    text: "store: redis\ngateway: {}",
    told: "flow.yaml:1: store is neither memory nor a map; expected memory or { redis: { url: redis://127.0.0.1:6379 } }",
  },
  {
    kind: "a store with two servers",
    text: "store: { redis: { url: redis://h, cluster: { nodes: [] } } }\ngateway: {}",
    told: "flow.yaml:1: store.redis has not exactly one of url, sentinel and cluster; keep one",
  },
  {
    kind: "a port that is none",
    text: "store: { redis: { cluster: { nodes: [{ host: a, port: 0 }] } } }\ngateway: {}",
    told: "flow.yaml:1: store.redis.cluster.nodes[0].port is 0; expected a whole number from 1 to 65535",
  },
  {
    kind: "administration for other machines without a token",
    text: "admin: { listen: 0.0.0.0:7070 }\npipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:1: admin.listen is 0.0.0.0:7070, which other machines reach, without a token; add admin.tokenFile or gateway.auth",
  },
  {
    kind: "a gateway for other machines without a token",
    text: "gateway: { listen: pulsar://0.0.0.0:6650 }",
    told: "flow.yaml:1: gateway.listen has pulsar://0.0.0.0:6650, which other machines reach, without tokens and TLS; add gateway.auth or gateway.tls, or allowAnonymous: true",
  },
  {
    kind: "a rate without its period",
    text: "gateway: { limits: { broker: { messages: 5 } } }",
    told: "flow.yaml:1: gateway.limits.broker.messages is 5; expected messages with their period, such as 1000/s or 600/min",
  },
  {
    kind: "a shared limit without a store",
    text: "gateway: { limits: { broker: { messages: 1/s, shared: true } } }",
    told: "flow.yaml:1: gateway.limits.broker.shared needs a store that other gateways reach; add store: { redis: { url: redis://127.0.0.1:6379 } }, or remove it",
  },
  {
    kind: "pipelines that are a list",
    text: "pipelines: [orders]",
    told: 'flow.yaml:1: pipelines is ["orders"]; expected a map of pipelines by their names',
  },
  {
    kind: "no pipeline at all",
    text: "pipelines: {}",
    told: "flow.yaml:1: pipelines is empty; expected at least one pipeline, or remove the key",
  },
  {
    kind: "a pipeline with a name that no store takes",
    text: "pipelines:\n  my orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:2: pipelines["my orders"] is "my orders"; expected a name of 1 to 64 letters, digits, - and _',
  },
  {
    kind: "a pipeline without vertices",
    text: "pipelines:\n  orders: {}",
    told: "flow.yaml:2: pipelines.orders.vertices is missing; expected a list of vertices: a source, maps, a sink",
  },
  {
    kind: "a pipeline of one vertex",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }",
    told: "flow.yaml:3: pipelines.orders.vertices has 1 vertex; expected a source first and a sink last",
  },
  {
    kind: "vertices that are a map",
    text: "pipelines:\n  orders:\n    vertices: { in: {} }",
    told: 'flow.yaml:3: pipelines.orders.vertices is {"in":{}}; expected a list of vertices: a source, maps, a sink',
  },
  {
    kind: "a sink first",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: out, sink: { blackhole: {} } }\n      - { name: end, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].sink is a sink in place 1 of 2; expected a source: a source first, maps between, a sink last",
  },
  {
    kind: "a source in the middle",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: again, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1].source is a source in place 2 of 3; expected a map: a source first, maps between, a sink last",
  },
  {
    kind: "a source last",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: end, source: { generator: {} } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1].source is a source in place 2 of 2; expected a sink: a source first, maps between, a sink last",
  },
  {
    kind: "a vertex without a name",
    text: "pipelines:\n  orders:\n    vertices:\n      - { source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].name is missing; expected a name of 1 to 64 letters, digits, - and _",
  },
  {
    kind: "two vertices of one name",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: in, sink: { blackhole: {} } }",
    told: 'flow.yaml:5: pipelines.orders.vertices[1].name is "in", which vertices[0] is called too; expected a name of its own',
  },
  {
    kind: "a vertex that is nothing",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: mid }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1] has none of source, map and sink; expected one of them",
  },
  {
    kind: "a vertex that is two things",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} }, map: { module: a.mjs } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1] has map and sink of source, map and sink; expected one of them",
  },
  {
    kind: "a source that is not known",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { kafak: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].source.kafak is not known here; did you mean kafka? known keys: generator, file, stdin, http, pulsar, redis, nats, kafka",
  },
  {
    kind: "a source with two connectors",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { stdin: {}, generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].source has generator and stdin; expected one of generator, file, stdin, http, pulsar, redis, nats, kafka, such as { pulsar: { topic: orders, subscription: shop } }",
  },
  {
    kind: "a source without a connector",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: {} }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].source is empty; expected one of generator, file, stdin, http, pulsar, redis, nats, kafka, such as { pulsar: { topic: orders, subscription: shop } }",
  },
  {
    kind: "a generator with a rate without its period",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: { rate: 100 } } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].source.generator.rate is 100; expected messages with their period, such as 1000/s or 600/min",
  },
  {
    kind: "a file without its path",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { file: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].source.file.path is missing; expected one line of text",
  },
  {
    kind: "a format that is none",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { stdin: { format: xml } } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:4: pipelines.orders.vertices[0].source.stdin.format is "xml"; expected json or text or bytes',
  },
  {
    kind: "a Pulsar source without a broker",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { pulsar: { topic: orders, subscription: shop } } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].source.pulsar has no url, and this file has no gateway; expected url: pulsar://host:6650, or a gateway",
  },
  {
    kind: "a topic that is none",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { pulsar: { url: pulsar://h, topic: a/b, subscription: shop } } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:4: pipelines.orders.vertices[0].source.pulsar.topic is "a/b"; expected the name of a topic, such as "public/default/orders"',
  },
  {
    kind: "a Pulsar source without a subscription",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { pulsar: { url: pulsar://h, topic: orders } } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.vertices[0].source.pulsar.subscription is missing; expected one line of text",
  },
  {
    kind: "a Kafka broker without a port",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { kafka: { brokers: kafka, topic: t, group: g } } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:4: pipelines.orders.vertices[0].source.kafka.brokers is "kafka"; expected host:port, such as 127.0.0.1:9092',
  },
  {
    kind: "a URL of Redis that is none, which is not shown",
    text: 'pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { redis: { url: "redis:/me:secret@h", stream: s, group: g } } }\n      - { name: out, sink: { blackhole: {} } }',
    told: "flow.yaml:4: pipelines.orders.vertices[0].source.redis.url is no address of Redis; expected redis://[user:password@]host[:port][/database], or rediss:// for TLS",
  },
  {
    kind: "an HTTP source without an address",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { http: { listen: here } } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:4: pipelines.orders.vertices[0].source.http.listen is "here"; expected an address such as 127.0.0.1:8080',
  },
  {
    kind: "an HTTP sink with a URL of something else",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { http: { url: ftp://h/ } } }",
    told: 'flow.yaml:5: pipelines.orders.vertices[1].sink.http.url is "ftp://h/"; expected an address such as http://127.0.0.1:9000/',
  },
  {
    kind: "an HTTP sink whose service has an empty name",
    text: 'pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { http: { url: http://h/, name: "" } } }',
    told: 'flow.yaml:5: pipelines.orders.vertices[1].sink.http.name is ""; expected a name of 1 to 64 characters, such as payments',
  },
  {
    kind: "a concurrency that is none",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { http: { url: http://h/, request: { concurrency: many } } } }",
    told: 'flow.yaml:5: pipelines.orders.vertices[1].sink.http.request.concurrency is "many"; expected adaptive, none, a whole number from 1, or { algorithm, initial, max }',
  },
  {
    kind: "a busy rule that is not known",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { http: { url: http://h/, request: { busy: { rule: slucie } } } } }",
    told: 'flow.yaml:5: pipelines.orders.vertices[1].sink.http.request.busy.rule is "slucie"; expected sluice or table or prose or off',
  },
  {
    kind: "a rate of a gate that is none",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { http: { url: http://h/, request: { rate: fast } } } }",
    told: 'flow.yaml:5: pipelines.orders.vertices[1].sink.http.request.rate is "fast"; expected a rate with its period, such as 500/s or 10000/min',
  },
  {
    kind: "a cost of a rate that is not there",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { http: { url: http://h/, request: { rates: { requests: 5/s }, cost: { tokens: 9 } } } } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1].sink.http.request has a cost of tokens; expected names of its rates: requests",
  },
  {
    kind: "a map of nothing",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: mid, map: {} }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1].map has no module and no command; expected one of them, such as { module: ./enrich.mjs }",
  },
  {
    kind: "a map of two things",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: mid, map: { module: a.mjs, command: [a] } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1].map has module and command; expected one of them",
  },
  {
    kind: "threads of a command",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: mid, map: { command: [a], threads: 2 } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1].map has threads, which a command does not run in; remove threads, or use module",
  },
  {
    kind: "a command that is text",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: mid, map: { command: python3 map.py } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:5: pipelines.orders.vertices[1].map.command is "python3 map.py"; expected a list of a program and its arguments, such as ["python3", "map.py"]',
  },
  {
    kind: "no threads",
    text: "pipelines:\n  orders:\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: mid, map: { module: a.mjs, threads: 0 } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:5: pipelines.orders.vertices[1].map.threads is 0; expected a whole number from 1 to 256",
  },
  {
    kind: "a rateLimit without max",
    text: "pipelines:\n  orders:\n    limits: { rateLimit: { min: 5 } }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.limits.rateLimit.max is missing; expected a whole number of tokens a second, at least 1",
  },
  {
    kind: "a min above the inherited max",
    text: "pipelines:\n  orders:\n    limits: { rateLimit: { max: 10 } }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} }, limits: { rateLimit: { min: 50 } } }",
    told: "flow.yaml:6: pipelines.orders.vertices[1].limits.rateLimit.min is 50; expected at most max, 10",
  },
  {
    kind: "two modes of a ramp",
    text: "pipelines:\n  orders:\n    limits: { rateLimit: { max: 10, modes: { relaxed: {}, scheduled: {} } } }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.limits.rateLimit.modes has scheduled and relaxed; expected one mode",
  },
  {
    kind: "a misspelt field of Numaflow's block",
    text: "pipelines:\n  orders:\n    limits: { rateLimit: { max: 10, rampUpDuraton: 5s } }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.limits.rateLimit.rampUpDuraton is not known here; did you mean rampUpDuration? known keys: max, min, rampUpDuration, modes, resumedRampUp, resumeTtl, ttl, store",
  },
  {
    kind: "a duration without its unit",
    text: "pipelines:\n  orders:\n    drain: 10\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.drain is 10; expected a duration with its unit, 10s or 10ms",
  },
  {
    kind: "a ramp without its unit, which may be meant in seconds",
    text: "pipelines:\n  orders:\n    limits: { rateLimit: { max: 10, rampUpDuration: 5 } }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.limits.rateLimit.rampUpDuration is 5; expected a duration with its unit, 5s or 5ms",
  },
  {
    kind: "a batch of no messages",
    text: "pipelines:\n  orders:\n    limits: { readBatchSize: 0 }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.limits.readBatchSize is 0; expected a whole number from 1 to 100000",
  },
  {
    kind: "a retry of no attempts",
    text: "pipelines:\n  orders:\n    retry: { attempts: 0 }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.retry.attempts is 0; expected a whole number from 1 to 1000",
  },
  {
    kind: "a buffer that is text",
    text: "pipelines:\n  orders:\n    buffer: large\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:3: pipelines.orders.buffer is "large"; expected a whole number from 1 to 1000000',
  },
  {
    kind: "a dead-letter sink that is a source",
    text: "pipelines:\n  orders:\n    deadLetter: { stdin: {} }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.deadLetter.stdin is not known here; known keys: blackhole, file, stdout, http, pulsar, redis, nats, kafka",
  },
  {
    kind: "replicas beside a store",
    text: "store: { redis: { url: redis://h } }\npipelines:\n  orders:\n    fleet: { replicas: 3 }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.fleet.replicas is given beside store, which counts the replicas itself; expected one of them, remove replicas",
  },
  {
    kind: "replicas and maxMembers",
    text: "pipelines:\n  orders:\n    fleet: { replicas: 3, maxMembers: 4 }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.fleet.maxMembers is given beside replicas; it is for a store, expected one of them",
  },
  {
    kind: "a lease without a store",
    text: "pipelines:\n  orders:\n    fleet: { lease: 3s }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:3: pipelines.orders.fleet.lease is given without store; a lease is the right to a share of the store's limit, expected a store or no lease",
  },
  {
    kind: "a lease that is too short",
    text: "store: { redis: { url: redis://h } }\npipelines:\n  orders:\n    fleet: { lease: 100ms }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.fleet.lease is 100 ms; expected 500ms to 10m",
  },
  {
    kind: "a share that is none",
    text: "pipelines:\n  orders:\n    fleet: { share: fair }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: 'flow.yaml:3: pipelines.orders.fleet.share is "fair"; expected demand or equal',
  },
  {
    kind: "a store in a block beside the store of the file",
    text: "store: { redis: { url: redis://h } }\npipelines:\n  orders:\n    limits: { rateLimit: { max: 5, store: { inMemoryStore: {} } } }\n    vertices:\n      - { name: in, source: { generator: {} } }\n      - { name: out, sink: { blackhole: {} } }",
    told: "flow.yaml:4: pipelines.orders.limits.rateLimit.store is given beside the store of the flow file; expected one of them",
  },
];
