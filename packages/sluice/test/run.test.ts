import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect } from "@sluice/pulsar";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));
let folder = "";
const children: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-run-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
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
    text: expect.stringContaining("closed") as string,
  });
});

test("check says that a file is right, and reports every mistake of one that is not", () => {
  expect(sluice("check", write("right.yaml", FLOW))).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/right\.yaml is right\n$/) as string,
  });
  const { status, stderr } = sluice("check", write("wrong.yaml", "store: disk\ngatewey: {}\n"));
  expect(status).toBe(2);
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/wrong\.yaml:1: store is "disk"; expected memory/),
    expect.stringMatching(/wrong\.yaml:1: gateway is missing/),
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
