import { parseHttpAddress, parseServiceUrl, parseTopicName } from "@sluice/gateway/internal";
import {
  byteSize,
  described,
  duration,
  either,
  field,
  flag,
  lineOfText,
  list,
  map,
  oneOf,
  perSecond,
  record,
  text,
  whole,
} from "@sluice/lab/file";
import * as v from "valibot";
import { redisUrl } from "../schema/flow-store.ts";
import { parsedBy } from "../schema/parsed-by.ts";
import { choice } from "./choice.ts";
import type { Chosen } from "./choice.ts";
import { requestField } from "./request-field.ts";

/** Brokers, topics and servers of one connector. */
const ITEMS_MAX = 1_000;
const THREADS_MAX = 256;
const THREAD_BYTES_MIN: number = 4 * 2 ** 20;
const PORT_MAX = 65_535;

const format = v.optional(
  described(
    oneOf("json", "text", "bytes"),
    "How the bytes of a message are read. Bytes that are no JSON make a poison message. Default: json.",
  ),
);

const lineMax = v.optional(
  described(byteSize(), "A longer line is skipped, with a warning. Default: 1MiB."),
);

const path = lineOfText();
const line = lineOfText();

const topic = parsedBy(parseTopicName, 'the name of a topic, such as "public/default/orders"');

const pulsar = {
  url: v.optional(
    described(
      parsedBy(parseServiceUrl, "the URL of a broker, such as pulsar://127.0.0.1:6650"),
      "The broker. Default: the gateway of this file.",
    ),
  ),
  tokenFile: v.optional(described(path, "A token, which the broker asks for.")),
  tls: v.optional(
    described(
      map({ ca: v.optional(path), cert: v.optional(path), key: v.optional(path) }),
      "For pulsar+ssl://. Default: Node's CAs.",
    ),
  ),
};

const redis = {
  url: described(redisUrl, "redis://[user:password@]host[:port][/database], rediss:// for TLS."),
  passwordFile: v.optional(described(path, "A password, instead of one in the URL.")),
  stream: described(line, "The key of the stream."),
};

const server = field<string>(
  (value) => typeof value === "string" && isServer(value),
  "host:port, such as 127.0.0.1:9092",
  { type: "string" },
);
const servers = either([server, list(server, ITEMS_MAX)], (value) =>
  Array.isArray(value)
    ? list(server, ITEMS_MAX)
    : v.pipe(
        server,
        v.transform((one) => [one]),
      ),
);

const natsServer = field<string>(
  (value) =>
    typeof value === "string" &&
    (isServer(value) || (/^(?:nats|tls|wss?):\/\//.test(value) && URL.canParse(value))),
  "an address such as nats://127.0.0.1:4222",
  { type: "string" },
);
const natsServers = either([natsServer, list(natsServer, ITEMS_MAX)], (value) =>
  Array.isArray(value)
    ? list(natsServer, ITEMS_MAX)
    : v.pipe(
        natsServer,
        v.transform((one) => [one]),
      ),
);

const nats = {
  servers: described(natsServers, "An address such as nats://127.0.0.1:4222, or a list of them."),
  tokenFile: v.optional(described(path, "A token, which the server asks for.")),
  user: v.optional(line),
  passwordFile: v.optional(path),
};

const kafka = {
  brokers: described(servers, "host:port, or a list of them."),
  topic: described(line, "One topic."),
  tls: v.optional(flag()),
  sasl: v.optional(
    map({
      mechanism: oneOf("plain", "scram-sha-256", "scram-sha-512"),
      username: line,
      passwordFile: path,
    }),
  ),
};

const http = field<string>(
  (value) => typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value),
  "an address such as http://127.0.0.1:9000/",
  { type: "string", pattern: "^https?://" },
);

const serviceName = field<string>(
  (value) => typeof value === "string" && /\S/.test(value) && value.length <= 64,
  "a name of 1 to 64 characters, such as payments",
  { type: "string", minLength: 1, maxLength: 64 },
);

const headers = record(line, line, "names of headers and their values");

const anyValue = v.unknown();

/** `source:` of a vertex. */
export const sourceField: v.GenericSchema<unknown, Chosen> = choice(
  {
    generator: described(
      map({
        rate: v.optional(
          described(perSecond("messages"), "Messages a second. Default: as fast as they are read."),
        ),
        count: v.optional(described(whole(1), "Messages in all. Default: endless.")),
        values: v.optional(
          described(
            list(anyValue, ITEMS_MAX, "a list of values"),
            "The values of the messages, in turns. Default: { n: 0 }, { n: 1 } and so on.",
          ),
        ),
      }),
      "Makes messages.",
    ),
    file: described(
      map({
        path: described(path, "The file, one message a line."),
        format,
        follow: v.optional(described(flag(), "Wait for more lines at the end. Default: false.")),
        checkpoint: v.optional(
          described(
            path,
            "The file that keeps the position. Default: none; every start begins at the first line.",
          ),
        ),
        lineMax,
      }),
      "Reads lines of a file.",
    ),
    stdin: described(map({ format, lineMax }), "Reads lines of standard input."),
    http: described(
      map({
        listen: described(
          parsedBy(parseHttpAddress, "an address such as 127.0.0.1:8080"),
          "The address to listen on.",
        ),
        path: v.optional(described(line, "Where messages are posted. Default: /")),
        format,
        respond: v.optional(
          described(
            oneOf("acknowledged", "accepted"),
            "acknowledged: 200 once the sink has the messages. accepted: 202 at once; a crash loses them. Default: acknowledged.",
          ),
        ),
        maxBody: v.optional(described(byteSize(), "A larger body is answered 413. Default: 1MiB.")),
        buffer: v.optional(
          described(
            whole(1, 1_000_000),
            "Messages that wait to be read; beyond, 429. Default: 1000.",
          ),
        ),
        timeout: v.optional(described(duration(), "The longest wait of a request. Default: 30s.")),
        tokenFile: v.optional(described(path, "A bearer token; needed beyond 127.0.0.1.")),
        allowAnonymous: v.optional(
          described(
            flag(),
            "Without a token: listen beyond 127.0.0.1, and take requests of web pages.",
          ),
        ),
      }),
      "Takes POST requests; answers 429 with RateLimit fields while the pipeline cannot take more.",
    ),
    pulsar: described(
      map({
        ...pulsar,
        topic,
        subscription: described(line, "The name of the subscription."),
        type: v.optional(
          described(
            oneOf("exclusive", "shared", "failover", "keyShared"),
            "How replicas divide the topic. Default: shared.",
          ),
        ),
        initialPosition: v.optional(
          described(
            oneOf("earliest", "latest"),
            "Where a new subscription begins. Default: earliest.",
          ),
        ),
        adminUrl: v.optional(
          described(
            http,
            "Pulsar's administration, which tells the backlog. Default: the gateway of this file tells it if its broker is embedded; else it is not known.",
          ),
        ),
        format,
      }),
      "Consumes a topic of a Pulsar broker.",
    ),
    redis: described(
      map({
        ...redis,
        group: described(line, "The consumer group; it is made if it does not exist."),
        consumer: v.optional(
          described(line, "The name of this consumer. Default: the vertex and a random part."),
        ),
        from: v.optional(
          described(oneOf("beginning", "end"), "Where a new group begins. Default: beginning."),
        ),
        claimIdle: v.optional(
          described(
            duration(),
            "Messages that another consumer left for this long are taken over. Default: 1m.",
          ),
        ),
        field: v.optional(described(line, "The field of the value. Default: value.")),
        format,
      }),
      "Reads a Redis stream through a consumer group.",
    ),
    nats: described(
      map({
        ...nats,
        stream: described(line, "The JetStream stream."),
        consumer: described(line, "The durable consumer; it is made if it does not exist."),
        subject: v.optional(described(line, "Only messages of this subject.")),
        from: v.optional(
          described(oneOf("beginning", "end"), "Where a new consumer begins. Default: beginning."),
        ),
        ackWait: v.optional(
          described(
            duration(),
            "After this without a sign of life a message comes again, for a new consumer. Default: 30s.",
          ),
        ),
        format,
      }),
      "Consumes a JetStream stream.",
    ),
    kafka: described(
      map({
        ...kafka,
        group: described(line, "The consumer group."),
        from: v.optional(
          described(oneOf("beginning", "end"), "Where a new group begins. Default: beginning."),
        ),
        format,
      }),
      "Consumes a topic of a Kafka cluster.",
    ),
  },
  "{ pulsar: { topic: orders, subscription: shop } }",
);

/** `map:` of a vertex. */
export const mapField: v.GenericSchema<unknown, Chosen> = v.pipe(
  map({
    module: v.optional(
      described(
        path,
        "A module whose default export maps a message, or whose export batch maps a batch.",
      ),
    ),
    command: v.optional(
      described(
        list(
          text(),
          ITEMS_MAX,
          'a list of a program and its arguments, such as ["python3", "map.py"]',
        ),
        "A program that reads and writes lines of JSON.",
      ),
    ),
    threads: v.optional(
      described(whole(1, THREADS_MAX), "Worker threads that run the module. Default: this thread."),
    ),
    memory: v.optional(
      described(
        byteSize(),
        "Heap of one thread, 4MiB at least; a thread that needs more is replaced. Default: Node's own bound.",
      ),
    ),
    timeout: v.optional(described(duration(), "A call that takes longer fails. Default: 30s.")),
    settings: v.optional(
      described(anyValue, "Given to the module with every call: any value. For a command use env."),
    ),
    env: v.optional(
      described(
        record(line, text(), "variables and their values"),
        "Variables of the command, beside those of this process.",
      ),
    ),
  }),
  v.check(
    ({ module, command }) => (module === undefined) !== (command === undefined),
    ({ input }) =>
      input.module === undefined
        ? "has no module and no command; expected one of them, such as { module: ./enrich.mjs }"
        : "has module and command; expected one of them",
  ),
  v.check(
    ({ command, threads }) => command === undefined || threads === undefined,
    "has threads, which a command does not run in; remove threads, or use module",
  ),
  v.check(
    ({ memory, threads }) => memory === undefined || threads !== undefined,
    "has memory, which bounds the heap of a thread; add threads, such as threads: 1",
  ),
  v.check(
    ({ memory }) => memory === undefined || memory >= THREAD_BYTES_MIN,
    "has a memory of less than 4MiB, in which no thread starts; expected at least 4MiB",
  ),
  v.check(
    ({ command, settings }) => command === undefined || settings === undefined,
    "has settings, which a command does not get; use env, or module",
  ),
  v.check(
    ({ module, env }) => module === undefined || env === undefined,
    "has env, which a module does not get; use settings, or command",
  ),
  v.check(
    ({ command }) => command === undefined || command.length > 0,
    'has an empty command; expected a program and its arguments, such as ["python3", "map.py"]',
  ),
  v.transform((given): Chosen => ({
    kind: given.module === undefined ? "command" : "module",
    options: given,
  })),
);

/** `sink:` of a vertex, and `deadLetter:` of a pipeline. */
export const sinkField: v.GenericSchema<unknown, Chosen> = choice(
  {
    blackhole: described(map({}), "Takes every message and keeps none."),
    file: described(
      map({
        path: described(path, "Lines are appended to it."),
        sync: v.optional(
          described(flag(), "Whether a write waits until the disk has it. Default: true."),
        ),
      }),
      "Appends a line for each message.",
    ),
    stdout: described(map({}), "Writes a line for each message to standard output."),
    http: described(
      map({
        url: described(http, "Where requests go."),
        name: v.optional(
          described(
            serviceName,
            "What the service is called on the page, in `why` and in events. Default: its host.",
          ),
        ),
        method: v.optional(described(oneOf("POST", "PUT", "PATCH"), "Default: POST.")),
        headers: v.optional(described(headers, "Headers of every request.")),
        tokenFile: v.optional(described(path, "A bearer token for every request.")),
        batch: v.optional(
          described(
            map({
              format: v.optional(
                described(
                  oneOf("ndjson", "json"),
                  "A line of JSON for each message, or an array. Default: ndjson.",
                ),
              ),
              messages: v.optional(
                described(whole(1, 100_000), "Messages of one request. Default: 100."),
              ),
              bytes: v.optional(described(byteSize(), "Bytes of one body. Default: 1MiB.")),
            }),
            "Several messages in one request. Default: one each.",
          ),
        ),
        request: v.optional(
          described(
            requestField,
            "The gate that requests pass: rates, busy throttle, concurrency.",
          ),
        ),
      }),
      "Sends requests through a gate that finds the right concurrency and heeds 429, 503 and Retry-After.",
    ),
    pulsar: described(map({ ...pulsar, topic }), "Publishes to a topic of a Pulsar broker."),
    redis: described(
      map({
        ...redis,
        lengthMax: v.optional(
          described(whole(1), "About how many entries the stream keeps. Default: all."),
        ),
        field: v.optional(described(line, "The field of the value. Default: value.")),
      }),
      "Appends to a Redis stream.",
    ),
    nats: described(
      map({
        ...nats,
        subject: described(line, "The subject to publish to; a stream must take it."),
        deduplicate: v.optional(
          described(
            flag(),
            "Sends the message's id, by which the stream leaves out duplicates. Default: true.",
          ),
        ),
      }),
      "Publishes to a JetStream stream.",
    ),
    kafka: described(map(kafka), "Produces to a topic of a Kafka cluster."),
  },
  "{ http: { url: http://127.0.0.1:9000/ } }",
);

function isServer(address: string): boolean {
  const [, port] = /^[^\s:/]+:(\d{1,5})$/.exec(address) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) <= PORT_MAX;
}
