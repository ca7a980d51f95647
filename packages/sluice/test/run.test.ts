import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startBroker } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { ended } from "./ended.ts";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));
let folder = "";
const children: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-run-"));
});
afterEach(() => Promise.all(children.splice(0).map(ended)));
afterAll(() => rmSync(folder, { recursive: true }));

const FLOW = `
name: shop
admin: { listen: 127.0.0.1:0 }
gateway:
  listen: pulsar://127.0.0.1:0
  data: ./data
  partitions: { orders: 4 }
`;

interface Ready {
  readonly event: string;
  readonly gateway: string;
  readonly admin: string;
}

async function start(text: string): Promise<{ child: ChildProcess; firstLine: string }> {
  const child = spawn(process.execPath, [bin, "run", write("flow.yaml", text), "--json"]);
  children.push(child);
  const [firstLine] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, firstLine };
}

test("a flow file runs a gateway and its administration until SIGTERM, and exits with 0", async () => {
  const { child, firstLine } = await start(FLOW);
  const ready = JSON.parse(firstLine) as Ready;
  expect(ready).toEqual({
    event: "ready",
    gateway: expect.stringMatching(/^pulsar:\/\/127\.0\.0\.1:\d+$/) as string,
    admin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    pipelines: [],
  });
  await using client = await connect(ready.gateway);
  const producer = await client.createProducer({ topic: "orders" });
  await producer.send({ data: Buffer.from("x") });
  const path = "/admin/v2/persistent/public/default/orders/partitions";
  const answer = await fetch(ready.admin + path);
  expect(await answer.json()).toMatchObject({ partitions: 4 });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test.each([
  ["the URL", (url: string) => url],
  [
    "the map",
    (url: string) => `{ url: "${url}", lookup: own-address, allow: { addresses: [127.0.0.1] } }`,
  ],
])("with %s of a cluster it runs a gateway in front of it, with limits", async (_, upstreamOf) => {
  const cluster = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  onTestFinished(() => cluster.close());
  const { child, firstLine } = await start(`
admin: { listen: 127.0.0.1:0 }
gateway:
  listen: pulsar://127.0.0.1:0
  upstream: ${upstreamOf(cluster.url)}
  data: memory
  limits: { topics: { orders: { messages: 1000/s } } }
`);
  const { gateway, admin } = JSON.parse(firstLine) as Ready;
  {
    await using client = await connect(gateway);
    const producer = await client.createProducer({ topic: "orders" });
    await producer.send({ data: Buffer.from("x") });
  }
  expect(cluster.stats().topics[0]?.in.messages).toBe(1);
  const state = (await (await fetch(`${admin}/api/state`)).json()) as object;
  expect(state).toMatchObject({ gateway: { upstream: cluster.url }, waiting: [] });
  const headers = { "content-type": "application/json" };
  const body = '{"messages": "5/s"}';
  const set = await fetch(`${admin}/api/limits/topic/orders`, { method: "PUT", headers, body });
  expect(await set.json()).toMatchObject({ from: { messages: 1_000 }, to: { messages: 5 } });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test.each([
  ["the embedded broker", "embedded"],
  ["a gateway in front of a cluster", "pulsar://127.0.0.1:1"],
])(
  "%s has a limit that was set after SIGKILL too, and names its file if it is damaged",
  async (_, upstream) => {
    const text = `
admin: { listen: 127.0.0.1:0 }
gateway:
  listen: pulsar://127.0.0.1:0
  upstream: ${upstream}
  data: ./kept-${upstream.length}
`;
    const path = "/api/limits/topic/orders";
    const before = await start(text);
    await fetch((JSON.parse(before.firstLine) as Ready).admin + path, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: '{"messages": "5/s"}',
    });
    before.child.kill("SIGKILL");
    await once(before.child, "exit");
    const after = await start(text);
    const answer = await fetch((JSON.parse(after.firstLine) as Ready).admin + path);
    expect(await answer.json()).toMatchObject({ messages: 5, source: "policy" });
    after.child.kill("SIGTERM");
    await once(after.child, "exit");
    const documents = join(folder, `kept-${upstream.length}`, "documents");
    const [file = ""] = readdirSync(documents).map((name) => join(documents, name));
    writeFileSync(file, "not what was stored");
    const { status, stderr } = sluice("run", write("flow.yaml", text));
    expect(stderr).toContain(file);
    expect(stderr).toMatch(/move it away/);
    expect(status).toBe(1);
  },
);

test("without ioredis, a shared limit ends the start with 1 and says what to install", () => {
  const resolve = `export async function resolve(name, context, next) {
  if (name === "ioredis") throw new Error("Cannot find package 'ioredis'");
  return next(name, context);
}`;
  const url = `data:text/javascript,${encodeURIComponent(resolve)}`;
  const hooks = `import { register } from "node:module"; register(${JSON.stringify(url)});`;
  const text = `
store: { redis: { url: redis://127.0.0.1:1 } }
gateway:
  listen: pulsar://127.0.0.1:0
  data: memory
  limits: { groups: { a: { topics: [a], messages: 5/s, shared: true } } }
`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", write("hooks.mjs", hooks), bin, "run", write("flow.yaml", text)],
    { encoding: "utf8" },
  );
  expect(stderr).toContain("store.redis needs the package ioredis; run: npm install ioredis\n");
  expect(status).toBe(1);
});

test("events are lines of JSON on standard error", async () => {
  const { child, firstLine } = await start(FLOW.replace("./data", "memory"));
  const { gateway } = JSON.parse(firstLine) as Ready;
  const line = once(createInterface(child.stderr ?? process.stdin), "line") as Promise<[string]>;
  const { port } = new URL(gateway.replace("pulsar", "http"));
  // Not Pulsar's protocol: the broker closes the connection and says why.
  await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
  expect(JSON.parse((await line)[0])).toMatchObject({
    time: expect.stringMatching(/Z$/) as string,
    event: "client-closed",
    level: "info",
    msg: expect.stringContaining("closed") as string,
  });
});

test("check --json prints one object also for a wrong file", () => {
  const file = write("wrong-too.yaml", "admin: 5\ngatewey: {}\n");
  const { status, stdout, stderr } = sluice("check", file, "--json");
  expect({ status, stderr }).toEqual({ status: 2, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    file,
    ok: false,
    problems: [
      {
        file,
        line: 1,
        path: "admin",
        found: "5",
        expected: expect.stringMatching(/^a map with the keys listen, /) as string,
        message: expect.stringMatching(/wrong-too\.yaml:1: admin is 5; expected a map/) as string,
      },
      {
        file,
        line: 2,
        path: "gatewey",
        message: expect.stringMatching(
          /wrong-too\.yaml:2: gatewey is not known here; did you mean gateway/,
        ) as string,
      },
    ],
  });
});

test("check --json lists each key that stands twice, and text that is no YAML, as a mistake with its line", () => {
  expect(problemsIn("name: a\nname: b\nadmin: {}\nadmin: {}")).toMatchObject([
    {
      line: 2,
      message: expect.stringMatching(/no\.yaml:2: the key "name" stands twice/) as string,
    },
    { line: 4, message: expect.stringMatching(/no\.yaml:4: the key "admin" stands tw/) as string },
  ]);
  expect(problemsIn("gateway: {")).toMatchObject([
    { line: 1, message: expect.stringMatching(/no\.yaml:1: not valid YAML: /) as string },
  ]);
});

test("check says that a file is right, and reports every mistake of one that is not", () => {
  expect(sluice("check", write("right.yaml", FLOW))).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/right\.yaml is right\n$/) as string,
  });
  const { status, stderr } = sluice("check", write("wrong.yaml", "store: disk\ngatewey: {}\n"));
  expect(status).toBe(2);
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/wrong\.yaml:1: store is neither memory nor a map; expected memory or/),
    expect.stringMatching(/wrong\.yaml:2: gatewey is not known here; did you mean gateway/),
    "",
  ]);
});

test.each([
  ["no file", ["run", "nowhere.yaml"], /nowhere\.yaml cannot be read: there is no such file/],
  [
    "a missing key file",
    ["run", "-"],
    /secret cannot be read/,
    "gateway: { auth: { tokenSecretFile: ./secret } }",
  ],
  [
    "administration for all without a token",
    ["run", "-"],
    /-:1: admin\.listen is 0\.0\.0\.0:0, which other machines reach, without a token/,
    "admin: { listen: 0.0.0.0:0 }\ngateway: { listen: pulsar://127.0.0.1:0, data: memory }",
  ],
])("%s is wrong usage", (_, args, message, input = "") => {
  const { status, stderr } = sluice(...args, { input });
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\n {4}at /);
  expect(status).toBe(2);
});

function problemsIn(text: string): unknown {
  const { status, stdout } = sluice("check", write("no.yaml", text), "--json");
  expect(status).toBe(2);
  return (JSON.parse(stdout) as { readonly problems: unknown }).problems;
}

function sluice(...args: readonly (string | { readonly input: string })[]): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  const words = args.filter((arg) => typeof arg === "string");
  const { input = "" } = args.find((arg) => typeof arg === "object") ?? {};
  return spawnSync(process.execPath, [bin, ...words], { cwd: folder, input, encoding: "utf8" });
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
