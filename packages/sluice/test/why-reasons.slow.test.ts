/**
 * `sluice why` in eleven staged situations, one for each reason of the design, with real brokers, services and a
 * real Redis: the cause, the setting with its line, and the time left.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";
import { startBroker } from "@sluice/gateway";
import { startAdmin } from "@sluice/gateway/admin";
import { expect, onTestFinished, test } from "vitest";
import { NEEDS_REDIS, redisPath, RedisServer } from "../../fleet/test/redis-server.ts";
import { servedFlow } from "../src/cli/flow/run-flow.ts";
import { whyLines } from "../src/why/why-lines.ts";
import type { WholeWhy } from "../src/why/why-lines.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

/** For the end of a stage on a busy machine. */
const HOOK_MS = 40_000;

interface Stage {
  readonly gateway: string;
  /** What `sluice why` prints once it says `reason`, in one line. */
  readonly why: (reason: string) => Promise<string>;
}

/** Runs a flow file with its administration until the end of the test. */
async function stage(text: string): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-why-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "flow.yaml");
  writeFileSync(file, text);
  const served = await servedFlow({ file, content: text }, true);
  const started = await served.start(() => {});
  onTestFinished(async () => {
    await started.drain?.();
    await started.close();
  }, HOOK_MS);
  const { gateway, addition } = started;
  const admin = await startAdmin({
    listen: "127.0.0.1:0",
    version: "test",
    ...(gateway !== undefined && { broker: gateway }),
    ...(addition !== undefined && { addition }),
    ...(served.placeOf !== undefined && { placeOf: served.placeOf }),
  });
  onTestFinished(() => admin.close());
  const look = async (): Promise<string> => {
    const answer = (await (await fetch(`${admin.url}/api/why`)).json()) as WholeWhy;
    return [...whyLines(answer, undefined)]
      .join(" ")
      .replaceAll(/\s+/g, " ")
      .replaceAll(folder, "");
  };
  return {
    gateway: gateway?.url ?? "",
    why: async (reason) => {
      let seen = "";
      for (let tries = 0; tries < 600; tries++) {
        seen = await look();
        const part = seen.split("▥").find((one) => one.trim().startsWith(`${reason} `));
        if (part !== undefined) return part.trim();
        await systemTimer.sleep(50);
      }
      throw new Error(`nothing waits for ${reason} after 30 s; why says: ${seen}`);
    },
  };
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
function flood(url: string, options: Flood): void {
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

const GATEWAY = "gateway:\n  listen: pulsar://127.0.0.1:0\n  data: memory\n  limits:\n";

test("topic-rate names the producer, the topic's limit with its line, and the end", async () => {
  const { gateway, why } = await stage(`${GATEWAY}    topics: { orders: { messages: 5/s } }`);
  flood(gateway, { topic: "orders", bytes: 100, clients: 1 });
  const told = await why("topic-rate");
  expect(told).toMatch(
    /^topic-rate bulk-0 waits to publish to public\/default\/orders\. The topic takes 5\/s/,
  );
  expect(told).toMatch(/since [\d:]+, for .* until .*(?:sends less than|at the present rate)/);
  expect(told).toMatch(
    /setting gateway\.limits\.topics\."public\/default\/orders" = 5\/s \/flow\.yaml:5/,
  );
});

test("group-rate names the group and its limit", async () => {
  const { gateway, why } = await stage(
    `${GATEWAY}    groups: { bulk: { topics: ["public/default/*"], messages: 5/s } }`,
  );
  flood(gateway, { topic: "a", bytes: 100, clients: 1 });
  const told = await why("group-rate");
  expect(told).toMatch(/Group bulk takes 5\/s for its topics together/);
  expect(told).toMatch(/until .*setting gateway\.limits\.groups\.bulk = 5\/s \/flow\.yaml:5/);
});

test("broker-rate names the limit of the gateway", async () => {
  const { gateway, why } = await stage(`${GATEWAY}    broker: { messages: 5/s }`);
  flood(gateway, { topic: "a", bytes: 100, clients: 1 });
  const told = await why("broker-rate");
  expect(told).toMatch(/This gateway takes 5\/s in all/);
  expect(told).toMatch(/until .*setting gateway\.limits\.broker = 5\/s \/flow\.yaml:5/);
});

test("connection-pending names the connection and its bound", async () => {
  // The cluster stores one message a second, so that publishes stay pending at the gateway.
  const cluster = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    limits: { topics: { slow: { messages: 1 } } },
  });
  onTestFinished(() => cluster.close());
  const { gateway, why } = await stage(
    `gateway:\n  listen: pulsar://127.0.0.1:0\n  upstream: { url: "${cluster.url}", allow: { addresses: [127.0.0.1] } }\n  data: memory\n  limits:\n    connection: { pendingMessages: 5 }`,
  );
  flood(gateway, { topic: "slow", bytes: 100, clients: 1 });
  const told = await why("connection-pending");
  expect(told).toMatch(
    /Connection 127\.0\.0\.1:\d+ waits\. \d+ of its publishes are not stored yet and 5 are allowed; it goes on at \d+/,
  );
  expect(told).toMatch(/setting gateway\.limits\.connection\.pendingMessages \/flow\.yaml:6/);
});

test("memory names the bytes that are held and the bound", async () => {
  const { gateway, why } = await stage(
    `${GATEWAY}    topics: { orders: { messages: 1/s } }\n    memory: 4MB`,
  );
  flood(gateway, { topic: "orders", bytes: 50_000, clients: 3 });
  const told = await why("memory");
  expect(told).toMatch(/Held frames fill .* of .*; reading goes on at/);
  expect(told).toMatch(/setting gateway\.limits\.memory \/flow\.yaml:6/);
});

/** A pipeline from a generator to a sink. */
function pipeline(sink: string, limits = ""): string {
  return `pipelines:
  orders:${limits}
    drain: 100ms
    vertices:
      - { name: in, source: { generator: {} } }
      - { name: out, sink: ${sink} }
`;
}

test("fleet-share names the share, the ramp, and max with its line", async () => {
  const { why } = await stage(
    pipeline(
      "{ blackhole: {} }",
      "\n    limits: { rateLimit: { max: 20, min: 10, rampUpDuration: 60s } }",
    ),
  );
  const told = await why("fleet-share");
  expect(told).toMatch(/in waits to read\. Its limit is 1\d\/s, still ramping/);
  expect(told).toMatch(/until its share grows to 20\/s, in about (?:\d+ s|1 min 0 s)/);
  expect(told).toMatch(/setting pipelines\.orders\.limits\.rateLimit\.max = 20 \/flow\.yaml:3/);
});

test("rate names the rate of the gate", async () => {
  const url = await service((_, response) => void response.end());
  const { why } = await stage(pipeline(`{ http: { url: "${url}", request: { rate: 5/s } } }`));
  const told = await why("rate");
  expect(told).toMatch(/Requests of out wait to be sent to http:\/\/127\.0\.0\.1:\d+\//);
  expect(told).toMatch(/until the next token, in [\d.]+ m?s/);
  expect(told).toMatch(
    /setting pipelines\.orders\.vertices\.out\.sink\.http\.request\.rate = 5\/s \/flow\.yaml:6/,
  );
});

test("concurrency names the requests in flight and that the limit finds itself", async () => {
  const url = await service(
    (_, response) => void systemTimer.sleep(400).then(() => response.end()),
  );
  const { why } = await stage(pipeline(`{ http: { url: "${url}", request: { concurrency: 1 } } }`));
  const told = await why("concurrency");
  expect(told).toMatch(/Requests of out wait to be sent to .*1 of 1/);
  expect(told).toMatch(/until the next answer/);
  expect(told).toMatch(
    /setting none needed: the limit finds itself; .*request\.concurrency = 1 \/flow\.yaml:6/,
  );
});

test("peer-busy names the service that said busy, and the rule", async () => {
  let answered = 0;
  const url = await service((_, response) => {
    answered++;
    response.writeHead(answered > 50 && answered % 2 === 0 ? 503 : 200).end();
  });
  const { why } = await stage(
    pipeline(`{ http: { url: "${url}", request: { concurrency: 50, busy: { rule: sluice } } } }`),
  );
  const told = await why("peer-busy");
  expect(told).toMatch(/Requests of out wait to be sent to http:\/\/127\.0\.0\.1:\d+\//);
  expect(told).toMatch(/until the (?:next request, in about|service takes more)/);
  expect(told).toMatch(/setting .*request\.busy = \{"rule":"sluice"\} \/flow\.yaml:6/);
});

test("retry-after names the pause that the service asked for, and its end", async () => {
  const url = await service((_, response) => {
    response.writeHead(429, { "retry-after": "30" }).end();
  });
  const { why } = await stage(pipeline(`{ http: { url: "${url}" } }`));
  const told = await why("retry-after");
  expect(told).toMatch(/asked for a pause/);
  expect(told).toMatch(/until in [23]\d s/);
  expect(told).toMatch(/setting none: the service decides/);
});

test.skipIf(redisPath === undefined)(
  `store-lost names the store's age, the safe share and maxMembers${NEEDS_REDIS}`,
  async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const { why } = await stage(
      `store: { redis: { url: "${redis.url}" } }\n${pipeline(
        "{ blackhole: {} }",
        "\n    fleet: { maxMembers: 4 }\n    limits: { rateLimit: { max: 100, min: 100 } }",
      )}`,
    );
    await why("fleet-share");
    redis.pause();
    onTestFinished(() => redis.resume());
    const told = await why("store-lost");
    expect(told).toMatch(
      /(?:in|out) runs on its safe share\. The store has not answered for .* and the lease of this member has ended, so it has the rate of 25\/s/,
    );
    expect(told).toMatch(/until the store answers, then at most/);
    expect(told).toMatch(/setting pipelines\.orders\.fleet\.maxMembers = 4 \/flow\.yaml:4/);
  },
);
