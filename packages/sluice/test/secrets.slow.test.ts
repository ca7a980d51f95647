/** Secrets in every place of a flow file, and a service that repeats what it is sent: no output shows one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ended } from "./ended.ts";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));
const ADMIN_TOKEN = "S3CRET-admin-0123456789";
const FILES = {
  token: "S3CRET-token-0123456789",
  password: "S3CRET-password",
  admin: ADMIN_TOKEN,
};
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Answers with a status that its path names, and repeats the request. */
async function startEcho(): Promise<string> {
  const server = createServer((request, response) => {
    const status = Number(/^\/(\d{3})/.exec(request.url ?? "")?.[1] ?? 401);
    response.writeHead(status, { "retry-after": "1" });
    response.end(`${request.url} ${JSON.stringify(request.headers)}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Nothing listens on port 1: every connector but HTTP fails, and says why. */
const flowOf = (service: string, more: string, limits: string): string => `
name: shop
admin: { listen: "127.0.0.1:0", tokenFile: admin }
${more}
pipelines:
  unauthorized:
    retry: { attempts: 2, backoff: 10ms }
    limits: { rateLimit: { max: 10${limits} } }
    vertices:
      - { name: in, source: { generator: { rate: 20/s } } }
      - { name: out, sink: { http: { url: "${service}/401?key=S3CRET1#S3CRET2", headers: { x-api-key: S3CRET3 }, tokenFile: token } } }
  malformed:
    retry: { attempts: 2, backoff: 10ms }
    vertices:
      - { name: in, source: { generator: { rate: 20/s } } }
      - { name: out, sink: { http: { url: "${service}/422?key=S3CRET4", headers: { authorization: Basic S3CRET5 } } } }
  busy:
    vertices:
      - { name: in, source: { generator: { rate: 20/s } } }
      - { name: out, sink: { http: { url: "${service}/503?key=S3CRET6", headers: { cookie: S3CRET7 } } } }
  redis:
    vertices:
      - { name: in, source: { redis: { url: "redis://S3CRET8:S3CRET9@127.0.0.1:1", stream: s, group: g } } }
      - { name: out, sink: { redis: { url: "redis://127.0.0.1:1", passwordFile: password, stream: s } } }
  nats:
    vertices:
      - { name: in, source: { nats: { servers: "nats://127.0.0.1:1", user: S3CRET10, passwordFile: password, stream: s, consumer: c } } }
      - { name: out, sink: { nats: { servers: "nats://127.0.0.1:1", tokenFile: token, subject: s } } }
  kafka:
    vertices:
      - { name: in, source: { kafka: { brokers: "127.0.0.1:1", topic: t, group: g, sasl: { mechanism: plain, username: S3CRET11, passwordFile: password } } } }
      - { name: out, sink: { blackhole: {} } }
  pulsar:
    vertices:
      - { name: in, source: { pulsar: { url: "pulsar://127.0.0.1:1", tokenFile: token, topic: t, subscription: s } } }
      - { name: out, sink: { pulsar: { url: "pulsar://127.0.0.1:1", topic: o, tokenFile: token } } }
  ingest:
    vertices:
      - { name: in, source: { http: { listen: "127.0.0.1:0", tokenFile: token } } }
      - { name: out, sink: { blackhole: {} } }
`;

async function cli(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [bin, ...args], { cwd: folder });
  onTestFinished(() => ended(child));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return out + err;
}

const PATHS = [
  "/metrics",
  "/readyz",
  "/api/state",
  "/api/why",
  "/api/why?name=unauthorized/out",
  "/api/limits",
  "/api/scale",
];

test.each([
  [
    "with a store that is away",
    'store: { redis: { url: "redis://S3CRET12:S3CRET13@127.0.0.1:1/0" } }',
    "",
  ],
  [
    "with a store of one limit that is away",
    "",
    ', store: { redisStore: { mode: single, url: "redis://:S3CRET14@127.0.0.1:1" } }',
  ],
])(
  "no log line, answer, metric or command shows a secret: %s",
  { timeout: 90_000 },
  async (_, more, limits) => {
    const service = await startEcho();
    writeFileSync(join(folder, "flow.yaml"), flowOf(service, more, limits));
    const shown: string[] = [await cli(["check", "flow.yaml"])];
    const child = spawn(process.execPath, [bin, "run", "flow.yaml", "--json"], {
      cwd: folder,
      env: {
        ...process.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: `${service}/?key=S3CRET15`,
        OTEL_EXPORTER_OTLP_HEADERS: "api-key=S3CRET16",
        OTEL_METRIC_EXPORT_INTERVAL: "500",
      },
    });
    onTestFinished(() => ended(child));
    const log: string[] = [];
    createInterface(child.stderr).on("line", (line) => log.push(line));
    const [ready] = (await once(createInterface(child.stdout), "line")) as [string];
    const { admin } = JSON.parse(ready) as { readonly admin: string };
    const has = (part: string): boolean => log.some((line) => line.includes(part));
    // Every part has failed at least once, and has said so.
    const failures = ["was answered 422", "was answered 503", "flow-telemetry-lost"];
    const pipelines = ["redis", "nats", "kafka", "pulsar"].map((name) => `pipeline ${name} failed`);
    await expect
      .poll(() => [...failures, ...pipelines].filter((part) => !has(part)), { timeout: 60_000 })
      .toEqual([]);
    const authorization = `Bearer ${ADMIN_TOKEN}`;
    for (const path of PATHS) {
      const answer = await fetch(admin + path, { headers: { authorization } });
      shown.push(`${path} ${await answer.text()}`);
    }
    for (const command of [["why"], ["limits", "get"], ["top", "--once"]])
      shown.push(await cli([...command, "--admin", admin, "--token-file", "admin"]));
    child.kill("SIGTERM");
    await once(child, "exit");
    for (const one of [...shown, ready, ...log]) expect(one).not.toContain("S3CRET");
    for (const line of log)
      expect(JSON.parse(line)).toMatchObject({
        level: expect.stringMatching(/^(?:info|warn|error)$/) as string,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
        event: expect.any(String) as string,
        msg: expect.any(String) as string,
      });
  },
);
