/** `sluice run` with pipelines, as a process: drains, reloads, readiness and ends. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { expect, onTestFinished, test } from "vitest";
import { NEEDS_REDIS, redisPath, RedisServer } from "../../fleet/test/redis-server.ts";
import { bin, runFlow, until } from "./run-flow.ts";
import type { Run } from "./run-flow.ts";

const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => `{"n":${n}}\n`).join("");

/** Every line of a file through a module into another file. */
const COPY = `pipelines:
  copy:
    vertices:
      - { name: in, source: { file: { path: in.ndjson } } }
      - { name: change, map: { module: ./map.mjs } }
      - { name: out, sink: { file: { path: out.ndjson } } }
`;

test("pipelines alone end with their sources, without a gateway, and exit with 0", async () => {
  const { child, folder, ready } = await runFlow(COPY, {
    "in.ndjson": lines(100),
    "map.mjs": "export default ({ value }) => (value.n % 2 === 0 ? undefined : { value });",
  });
  expect(ready).toMatchObject({ gateway: null, pipelines: ["copy"] });
  if (child.exitCode === null) await once(child, "exit");
  expect(child.exitCode).toBe(0);
  const written = readFileSync(join(folder, "out.ndjson"), "utf8").trim().split("\n");
  expect(written).toHaveLength(50);
  expect(written[0]).toBe('{"n":1}');
});

test("a map's promise without a catch, and what it throws from a callback, are told, and every message arrives", async () => {
  const { child, folder, log } = await runFlow(COPY, {
    "in.ndjson": lines(100),
    "map.mjs": `export default ({ value }) => {
  if (value.n === 3) void Promise.reject(new Error("floating"));
  if (value.n === 5) process.nextTick(() => { throw new Error("from a callback"); });
  if (value.n === 7) void Promise.reject(undefined);
  return Promise.resolve({ value });
};`,
  });
  if (child.exitCode === null) await once(child, "exit");
  expect(child.exitCode).toBe(0);
  expect(readFileSync(join(folder, "out.ndjson"), "utf8")).toBe(lines(100));
  const told = log.filter((line) => line.includes("flow-unhandled-error")).join("\n");
  for (const what of ["map.mjs:2:", "floating", "map.mjs:3:", "from a callback", "undefined"])
    expect(told).toContain(what);
});

test("an exception that went through Sluice's own code ends the process", async () => {
  const core = new URL("../../core/dist/index.js", import.meta.url).href;
  const { child, log } = await runFlow(COPY, {
    "in.ndjson": lines(1),
    "map.mjs": `import { TokenBucket } from ${JSON.stringify(core)};
export default () => {
  process.nextTick(() => new TokenBucket({ rate: -1 }));
  return new Promise(() => {});
};`,
  });
  if (child.exitCode === null) await once(child, "exit");
  expect(child.exitCode).toBe(1);
  expect(log.join("\n")).toContain("map.mjs:3:");
});

test("standard output has the messages of a stdout sink and nothing else, from a file as standard input", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-pipelines-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "in.ndjson"), lines(3));
  writeFileSync(
    join(folder, "flow.yaml"),
    `pipelines:
  copy:
    vertices:
      - { name: in, source: { stdin: {} } }
      - { name: out, sink: { stdout: {} } }
`,
  );
  const input = openSync(join(folder, "in.ndjson"), "r");
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, "run", "flow.yaml"], {
    cwd: folder,
    stdio: [input, "pipe", "pipe"],
    encoding: "utf8",
  });
  closeSync(input);
  expect({ status, stdout }).toEqual({ status: 0, stdout: lines(3) });
  expect(stderr).toContain("ready pipelines copy");
  expect(stderr).not.toContain("closing failed");
});

const THROUGH_GATEWAY = `
name: shop
admin: { listen: 127.0.0.1:0 }
gateway: { listen: "pulsar://127.0.0.1:0", data: memory }
pipelines:
  feed:
    vertices:
      - { name: gen, source: { generator: { rate: 200/s } } }
      - { name: pub, sink: { pulsar: { topic: orders } } }
  orders:
    limits: { rateLimit: { max: 50, min: 50 } }
    vertices:
      - { name: in, source: { pulsar: { topic: orders, subscription: shop } } }
      - { name: out, sink: { file: { path: out.ndjson } } }
`;

test("SIGTERM drains pipelines before the gateway ends, and exits with 0", async () => {
  const { child, ready, log } = await runFlow(THROUGH_GATEWAY);
  expect(ready.pipelines).toEqual(["feed", "orders"]);
  const why = async (): Promise<string> =>
    (await fetch(`${ready.admin}/api/why?name=orders`)).text();
  await until(
    async () => (await why()).includes("fleet-share"),
    () => log.join("\n"),
  );
  expect(await (await fetch(`${ready.admin}/api/scale/orders`)).json()).toEqual({ value: 1 });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  const kinds = log.map((line) => (JSON.parse(line) as { event: string }).event);
  expect(kinds.filter((kind) => kind === "pipeline-stopped")).toHaveLength(2);
  expect(kinds.filter((kind) => kind === "error")).toEqual([]);
});

test("a changed file changes limits while the process runs; a wrong one changes nothing and is told", async () => {
  const { child, ready, folder, log } = await runFlow(THROUGH_GATEWAY);
  const max = async (): Promise<unknown> => {
    const answer = await fetch(`${ready.admin}/api/limits/vertex/orders/in`);
    return ((await answer.json()) as { rateLimit: { max: number } }).rateLimit.max;
  };
  writeFileSync(join(folder, "flow.yaml"), THROUGH_GATEWAY.replace("max: 50", "max: 80"));
  await until(
    async () => (await max()) === 80,
    () => log.join("\n"),
  );
  writeFileSync(join(folder, "flow.yaml"), THROUGH_GATEWAY.replace("max: 50", "max: many"));
  child.kill("SIGHUP");
  await until(
    () => log.some((line) => line.includes("flow-rejected") && line.includes('max is \\"many\\"')),
    () => log.join("\n"),
  );
  expect(await max()).toBe(80);
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
});

const markedBy = (module: string, more: string): string => `
    vertices:
      - { name: in, source: { generator: { rate: 50/s } } }
      - { name: mark, map: { module: ./${module}${more} } }
      - { name: out, sink: { file: { path: ${module}.out } } }`;
const mark = (text: string): string => `export default () => ({ value: "${text}" });`;
const common = (text: string): string => `module.exports = () => ({ value: "${text}" });`;

test("a changed map module is taken over, in the process and in threads; one that cannot be loaded is told and changes nothing", async () => {
  const { child, folder, log } = await runFlow(
    `admin: { listen: 127.0.0.1:0 }
pipelines:
  own:${markedBy("own.mjs", "")}
  common:${markedBy("common.cjs", "")}
  threads:${markedBy("threads.mjs", ", threads: 1")}
`,
    { "own.mjs": mark("a"), "common.cjs": common("a"), "threads.mjs": mark("a") },
  );
  const files = ["own.mjs", "common.cjs", "threads.mjs"];
  const write = (text: string): void => {
    for (const file of files)
      writeFileSync(join(folder, file), file.endsWith(".cjs") ? common(text) : mark(text));
  };
  const lastLines = (): readonly (string | undefined)[] =>
    files.map((file) => {
      const path = join(folder, `${file}.out`);
      return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").at(-1) : undefined;
    });
  const show = (): string => `${lastLines().join()}\n${log.join("\n")}`;
  await until(() => lastLines().every((line) => line === "a"), show);
  write("b");
  await until(() => lastLines().every((line) => line === "b"), show);
  for (const file of files) writeFileSync(join(folder, file), "export default (;");
  await until(() => log.filter((line) => line.includes("flow-rejected")).length === 3, show);
  expect(lastLines()).toEqual(["b", "b", "b"]);
  write("c");
  await until(() => lastLines().every((line) => line === "c"), show);
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
}, 60_000);

function limitedTo(messages: string): string {
  return `admin: { listen: 127.0.0.1:0 }
gateway:
  listen: pulsar://127.0.0.1:0
  data: memory
  limits: { topics: { orders: { messages: ${messages} } }, memory: 64MB }
`;
}

test("limits of the gateway in a changed file hold at once, and the former ones stay if the file is wrong", async () => {
  const { child, folder, ready, log } = await runFlow(limitedTo("100/s"));
  const limit = async (): Promise<unknown> => {
    const answer = await fetch(`${ready.admin}/api/limits/topic/orders`);
    return ((await answer.json()) as { readonly messages: number }).messages;
  };
  const told = (kind: string): string | undefined => log.find((line) => line.includes(kind));
  expect(await limit()).toBe(100);
  writeFileSync(join(folder, "flow.yaml"), limitedTo("250/s").replace("64MB", "65MB"));
  await until(
    () => told("flow-reloaded") !== undefined,
    () => log.join("\n"),
  );
  expect(await limit()).toBe(250);
  expect(told("flow-reloaded")).toContain(
    "new limits of gateway.limits.topics; takes effect after a restart: gateway.limits.memory",
  );
  writeFileSync(join(folder, "flow.yaml"), limitedTo("fast"));
  await until(
    () => told("flow-rejected") !== undefined,
    () => log.join("\n"),
  );
  expect(await limit()).toBe(250);
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a pipeline that cannot start leaves the gateway running, and /readyz says why", async () => {
  const { child, ready, log } = await runFlow(
    THROUGH_GATEWAY.replace("path: out.ndjson", "path: no/such/folder/out.ndjson"),
  );
  const readiness = async (): Promise<string> => (await fetch(`${ready.admin}/readyz`)).text();
  await until(
    async () => (await readiness()).includes("pipeline orders failed"),
    () => log.join("\n"),
  );
  expect(await readiness()).toMatch(/"not ready".*no\/such\/folder.*next start in/);
  expect((await fetch(`${ready.admin}/healthz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a connector that still connects is named, keeps /readyz from being ready, and does not hold up Ctrl-C", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  // The client library of NATS would wait for 20 s.
  const { child, ready } = await runFlow(`admin: { listen: 127.0.0.1:0 }
pipelines:
  orders:
    vertices:
      - { name: in, source: { nats: { servers: "127.0.0.1:${port}", stream: s, consumer: c } } }
      - { name: out, sink: { blackhole: {} } }
`);
  const notReady = "pipeline orders starts: in connects (nats)";
  expect(ready).toMatchObject({ event: "starting", notReady, pipelines: ["orders"] });
  const answer = await fetch(`${ready.admin}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { status: "not ready", reason: notReady },
  ]);
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
}, 15_000);

test("a second signal ends a drain at once", async () => {
  const { child, log } = await runFlow(
    THROUGH_GATEWAY.replace(
      "sink: { file: { path: out.ndjson } }",
      'sink: { http: { url: "http://127.0.0.1:1/" } }',
    ),
  );
  await until(
    () => log.some((line) => line.includes("vertex-message-failed")),
    () => log.join("\n"),
  );
  child.kill("SIGTERM");
  await until(
    () => log.some((line) => line.includes("pipeline-draining")),
    () => log.join("\n"),
  );
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([143, null]);
});

test.skipIf(process.platform === "win32")(
  "a second signal also ends the program of a map that does not read its input",
  async () => {
    const { child, folder, log } = await runFlow(
      `pipelines:
  p:
    vertices:
      - { name: in, source: { generator: { rate: 100/s } } }
      - { name: hang, map: { command: [sh, -c, "echo $$ > pid; exec sleep 600"] } }
      - { name: out, sink: { blackhole: {} } }
`,
    );
    const program = Number(readFileSync(join(folder, "pid"), "utf8"));
    child.kill("SIGINT");
    await until(
      () => log.some((line) => line.includes("pipeline-draining")),
      () => log.join("\n"),
    );
    expect(isRunning(program)).toBe(true);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    await until(
      () => !isRunning(program),
      () => `process ${program} runs`,
    );
  },
);

/** A process that has ended may stay as a zombie where process 1 does not reap. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

test.skipIf(redisPath === undefined)(
  `replicas with one Redis share the limit of a vertex, also one that is set while they run${NEEDS_REDIS}`,
  // A busy machine may stop a process for longer than its tokens are saved up, so that less is read.
  { retry: 2 },
  async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const text = `
name: shop
store: { redis: { url: "${redis.url}" } }
admin: { listen: 127.0.0.1:0 }
pipelines:
  orders:
    vertices:
      - { name: in, source: { generator: {} }, limits: { rateLimit: { max: 200, min: 200 } } }
      - { name: out, sink: { blackhole: {} } }
`;
    const replicas = [await runFlow(text), await runFlow(text)];
    const told = (): string => replicas.map(({ log }) => log.join("\n")).join("\n");
    const areShared = async (share: number): Promise<boolean> => {
      const states = await Promise.all(replicas.map(inState));
      return states.every(
        ({ rateLimit }) =>
          rateLimit?.members === 2 && Math.abs((rateLimit.share ?? 0) - share) < share * 0.2,
      );
    };
    await until(() => areShared(100), told);
    const before = await Promise.all(replicas.map(inState));
    const startMs = systemTimer.now();
    await systemTimer.sleep(5_000);
    const after = await Promise.all(replicas.map(inState));
    const seconds = (systemTimer.now() - startMs) / 1000;
    const read = after.map(({ counts }, i) => counts.read - (before[i]?.counts.read ?? 0));
    const perSecond = read.reduce((sum, one) => sum + one, 0) / seconds;
    expect(perSecond).toBeLessThan(1.05 * 200);
    expect(perSecond).toBeGreaterThan(0.7 * 200);
    await fetch(`${replicas[0]?.ready.admin}/api/limits/vertex/orders/in`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: '{"max": 600}',
    });
    await until(() => areShared(300), told);
  },
);

interface VertexJson {
  readonly counts: { readonly read: number };
  readonly rateLimit?: { readonly members: number | null; readonly share: number | null };
}

/** The first vertex of the first pipeline. */
async function inState({ ready }: Run): Promise<VertexJson> {
  const state = (await (await fetch(`${ready.admin}/api/state`)).json()) as {
    pipelines: { vertices: VertexJson[] }[];
  };
  return state.pipelines[0]?.vertices[0] as VertexJson;
}
