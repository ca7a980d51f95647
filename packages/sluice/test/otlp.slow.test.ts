/** `sluice run` with OpenTelemetry's variables: what a receiver gets. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { read } from "../../../test/tree.ts";
import { ended } from "./ended.ts";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));

interface Point {
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue: string };
  }[];
  readonly asDouble?: number;
  readonly count?: string;
}

interface Exported {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly gauge?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly dataPoints: readonly Point[] };
}

interface Export {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: Readonly<Record<string, string>>;
  readonly metrics: readonly Exported[];
}

/** Takes exports, and calls of a sink at `/calls`. */
async function startReceiver() {
  const exports: Export[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await buffer(request);
    response.setHeader("content-type", "application/json").end("{}");
    if (request.url === "/calls") return;
    const isZipped = request.headers["content-encoding"] === "gzip";
    const body = (isZipped ? gunzipSync(bytes) : bytes).toString("utf8");
    const { resourceMetrics } = JSON.parse(body) as {
      resourceMetrics: readonly {
        resource: { attributes: Point["attributes"] };
        scopeMetrics: readonly { metrics: readonly Exported[] }[];
      }[];
    };
    for (const { resource, scopeMetrics } of resourceMetrics)
      exports.push({
        path: request.url ?? "",
        headers: request.headers,
        resource: labelsOf(resource.attributes),
        metrics: scopeMetrics.flatMap(({ metrics }) => metrics),
      });
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { exports, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function labelsOf(attributes: Point["attributes"]): Readonly<Record<string, string>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
}

function flowTo(service: string): string {
  return `
name: shop
admin: { listen: 127.0.0.1:0 }
gateway: { listen: "pulsar://127.0.0.1:0", data: memory }
pipelines:
  orders:
    vertices:
      - name: in
        source: { generator: {} }
        limits: { rateLimit: { max: 50, min: 50 } }
      - name: out
        sink: { http: { url: "${service}/calls" } }
`;
}

async function start(
  flow: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly child: ChildProcess; readonly admin: string; readonly errors: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-otlp-"));
  const file = join(folder, "flow.yaml");
  writeFileSync(file, flow);
  const child = spawn(process.execPath, [bin, "run", file, "--json"], {
    env: { ...process.env, ...environment },
  });
  onTestFinished(async () => {
    await ended(child);
    rmSync(folder, { recursive: true });
  });
  const errors: string[] = [];
  createInterface(child.stderr).on("line", (line) => errors.push(line));
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(() => Promise.reject(new Error(errors.join("\n")))),
  ])) as [string];
  const { admin } = JSON.parse(line) as { readonly admin: string };
  return { child, admin, errors };
}

/** Names with their types of `/metrics`, those without a sample too. */
function typesOf(prometheus: string): ReadonlyMap<string, string> {
  return new Map(
    [...prometheus.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [
      name,
      type,
    ]),
  );
}

test("a receiver gets every metric of /metrics that has a value, by the same names, types and labels", async () => {
  const { exports, url } = await startReceiver();
  const { child, admin, errors } = await start(flowTo(url), {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=k%3D1",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    OTEL_METRIC_EXPORT_INTERVAL: "200",
    OTEL_SERVICE_NAME: "shop",
  });
  await expect
    .poll(() => sumOf(exports.at(-1), "adaptive_concurrency_observed_rtt"), { timeout: 15_000 })
    .toBeGreaterThan(0);
  const prometheus = await (await fetch(`${admin}/metrics`)).text();
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  const last = exports.at(-1);
  expect(last).toMatchObject({
    path: "/v1/metrics",
    headers: { "api-key": "k=1", "content-type": "application/json" },
    resource: { "service.name": "shop" },
  });
  const types = typesOf(prometheus);
  const withSamples = new Set(
    [...prometheus.matchAll(/^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{.*\})? \S+$/gm)].map(
      ([, name = ""]) => name,
    ),
  );
  const names = (last?.metrics ?? []).map(({ name }) => name);
  expect([...withSamples].filter((name) => isStill(name) && types.has(name)).toSorted()).toEqual(
    names.filter(isStill).toSorted(),
  );
  for (const { name, sum, gauge, histogram } of last?.metrics ?? [])
    expect([name, sum && "counter", gauge && "gauge", histogram && "histogram"]).toContain(
      types.get(name),
    );
  const labels = last?.metrics.find(({ name }) => name === "forwarder_read_total")?.sum;
  expect(labels?.dataPoints.map(({ attributes }) => labelsOf(attributes))).toEqual([
    { pipeline: "orders", vertex: "in", vertex_type: "source" },
    { pipeline: "orders", vertex: "out", vertex_type: "sink" },
  ]);
  expect(errors.filter((line) => line.includes("telemetry"))).toEqual([]);
});

test("docs/reference/metrics.md has every metric of /metrics with its type, and no other", async () => {
  const { url } = await startReceiver();
  const { admin } = await start(flowTo(url), {});
  const types = typesOf(await (await fetch(`${admin}/metrics`)).text());
  const documented = [
    ...read("docs/reference/metrics.md").matchAll(/^\| (`[a-z_`, ]+`) +\| (\w+) +\|/gm),
  ].flatMap(([, names = "", type = ""]) =>
    names.split(", ").map((name) => [name.replaceAll("`", ""), type] as const),
  );
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(types));
});

test("a receiver that is away is told in one line, without the headers, and nothing stops", async () => {
  const { url } = await startReceiver();
  const { child, errors } = await start(flowTo(url), {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=hunter2",
    OTEL_METRIC_EXPORT_INTERVAL: "100",
  });
  const told = (): readonly string[] => errors.filter((line) => line.includes("telemetry-lost"));
  await expect.poll(() => told().length, { timeout: 15_000 }).toBe(1);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(told()).toHaveLength(1);
  expect(errors.join("\n")).not.toContain("hunter2");
});

/** At the end the pipeline is stopped: no vertex waits, has a share or knows a backlog. */
function isStill(name: string): boolean {
  return !/^(?:sluice_vertex_waiting|sluice_rate_limit_.*|vertex_pending_messages)$/.test(name);
}

function sumOf(exported: Export | undefined, name: string): number {
  const found = exported?.metrics.find((metric) => metric.name === name);
  return (found?.histogram?.dataPoints ?? []).reduce((sum, { count }) => sum + Number(count), 0);
}
