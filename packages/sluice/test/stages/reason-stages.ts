/** A stage for each of the eleven reasons: a flow file, and what makes it wait, with real brokers, services and a real Redis. */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Reason } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import { startBroker } from "@sluice/gateway";
import { onTestFinished } from "vitest";
import { RedisServer } from "../../../fleet/test/redis-server.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

export interface ReasonStage {
  readonly flow: string;
  /** Traffic that the gateway must hold back. */
  readonly flood?: Flood;
  /** What happens to a flow that waits for `after` already. */
  readonly next?: { readonly after: Reason; readonly act: () => void };
}

export type StagedReason = keyof typeof REASON_STAGES;

const GATEWAY = "gateway:\n  listen: pulsar://127.0.0.1:0\n  data: memory\n  limits:\n";

const ONE: Pick<Flood, "bytes" | "clients"> = { bytes: 100, clients: 1 };

/** Each ends with the test that has called it. */
export const REASON_STAGES = {
  "topic-rate": stage({
    flow: `${GATEWAY}    topics: { orders: { messages: 5/s } }`,
    flood: { topic: "orders", ...ONE },
  }),
  "group-rate": stage({
    flow: `${GATEWAY}    groups: { bulk: { topics: ["public/default/*"], messages: 5/s } }`,
    flood: { topic: "a", ...ONE },
  }),
  "broker-rate": stage({
    flow: `${GATEWAY}    broker: { messages: 5/s }`,
    flood: { topic: "a", ...ONE },
  }),
  "connection-pending": async () => {
    // The cluster stores one message a second, so that publishes stay pending at the gateway.
    const cluster = await startBroker({
      listen: "pulsar://127.0.0.1:0",
      data: "memory",
      limits: { topics: { slow: { messages: 1 } } },
    });
    onTestFinished(() => cluster.close());
    return {
      flow: `gateway:\n  listen: pulsar://127.0.0.1:0\n  upstream: { url: "${cluster.url}", allow: { addresses: [127.0.0.1] } }\n  data: memory\n  limits:\n    connection: { pendingMessages: 5 }`,
      flood: { topic: "slow", ...ONE },
    };
  },
  memory: stage({
    flow: `${GATEWAY}    topics: { orders: { messages: 1/s } }\n    memory: 4MB`,
    flood: { topic: "orders", bytes: 50_000, clients: 3 },
  }),
  "fleet-share": stage({
    flow: pipeline(
      "{ blackhole: {} }",
      "\n    limits: { rateLimit: { max: 20, min: 10, rampUpDuration: 60s } }",
    ),
  }),
  rate: async () => {
    const url = await service((_, response) => void response.end());
    return { flow: pipeline(`{ http: { url: "${url}", request: { rate: 5/s } } }`) };
  },
  concurrency: async () => {
    const url = await service(
      (_, response) => void systemTimer.sleep(400).then(() => response.end()),
    );
    return { flow: pipeline(`{ http: { url: "${url}", request: { concurrency: 1 } } }`) };
  },
  "peer-busy": async () => {
    let answered = 0;
    const url = await service((_, response) => {
      answered++;
      response.writeHead(answered > 50 && answered % 2 === 0 ? 503 : 200).end();
    });
    const request = "{ concurrency: 50, busy: { rule: sluice } }";
    return { flow: pipeline(`{ http: { url: "${url}", request: ${request} } }`) };
  },
  "retry-after": async () => {
    const url = await service((_, response) => {
      response.writeHead(429, { "retry-after": "30" }).end();
    });
    return { flow: pipeline(`{ http: { url: "${url}" } }`) };
  },
  "store-lost": async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const act = (): void => {
      redis.pause();
      // Before the flow ends, which asks its store.
      onTestFinished(() => redis.resume());
    };
    return { ...storeStage(redis.url), next: { after: "fleet-share", act } };
  },
} as const satisfies Partial<Record<Reason, () => Promise<ReasonStage>>>;

/** A member of a pool of at most four, whose store is at `url`. */
export function storeStage(url: string): ReasonStage {
  const limits =
    "\n    fleet: { maxMembers: 4 }\n    limits: { rateLimit: { max: 100, min: 100 } }";
  return {
    flow: `store: { redis: { url: "${url}" } }\n${pipeline("{ blackhole: {} }", limits)}`,
  };
}

/** A map that never answers, `hang.mjs`, between a generator and a sink. */
export const HANGING: { readonly flow: string; readonly files: Readonly<Record<string, string>> } =
  {
    flow: pipeline("{ blackhole: {} }").replace(
      "      - { name: out",
      "      - { name: enrich, map: { module: ./hang.mjs } }\n      - { name: out",
    ),
    files: { "hang.mjs": "export default () => new Promise(() => {});" },
  };

/** A pipeline from a generator to a sink. */
export function pipeline(sink: string, limits = ""): string {
  return `pipelines:
  orders:${limits}
    drain: 100ms
    vertices:
      - { name: in, source: { generator: {} } }
      - { name: out, sink: ${sink} }
`;
}

function stage(whole: ReasonStage): () => Promise<ReasonStage> {
  return () => Promise.resolve(whole);
}

const FLOOD = `
import { connect } from "@sluice/pulsar";
const { url, topic, bytes, clients } = JSON.parse(process.argv[1]);
for (let i = 0; i < clients; i++) {
  const client = await connect(url, { throttle: false });
  const producer = await client.createProducer({ topic, name: "bulk-" + i, batching: false });
  for (let n = 0; n < 200; n++) producer.send({ data: Buffer.alloc(bytes) }).catch(() => {});
}
`;

interface Flood {
  readonly topic: string;
  readonly bytes: number;
  readonly clients: number;
}

/** A process of producers that send without waiting for receipts. A client that closes would wait for them. */
export function flood(url: string, options: Flood): void {
  const args = ["--input-type=module", "-e", FLOOD, JSON.stringify({ url, ...options })];
  const child = spawn(process.execPath, args, { cwd: here, stdio: "inherit" });
  onTestFinished(() => void child.kill("SIGKILL"));
}

/** An HTTP service on a free port; its address. */
async function service(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
