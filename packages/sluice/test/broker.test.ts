import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect } from "@sluice/pulsar";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ended } from "./ended.ts";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));
let folder = "";
const children: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-cli-broker-"));
  writeFileSync(join(folder, "short.key"), "canary");
});
afterEach(() => Promise.all(children.splice(0).map(ended)));
afterAll(() => rmSync(folder, { recursive: true }));

interface Started {
  readonly child: ChildProcess;
  readonly firstLine: string;
}

async function start(...args: readonly string[]): Promise<Started> {
  const all = [bin, "broker", "--listen", "pulsar://127.0.0.1:0", ...args];
  const child = spawn(process.execPath, all, { cwd: folder });
  children.push(child);
  const [firstLine] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, firstLine };
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "says where it is, and %s ends it with 0",
  async (signal) => {
    const { child, firstLine } = await start();
    expect(firstLine).toMatch(/^ready on pulsar:\/\/127\.0\.0\.1:\d+, data in \.\/sluice-data$/);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);

test("--data memory keeps nothing, as data: memory of a flow file, and makes no folder of that name", async () => {
  const { firstLine } = await start("--data", "memory");
  expect(firstLine).toMatch(/, in memory$/);
  expect(readdirSync(folder)).not.toContain("memory");
});

test("a broker that cannot store what it has left to store says so and fails", async () => {
  const data = join(folder, "lost");
  const { child, firstLine } = await start("--data", data, "--json");
  const { urls } = JSON.parse(firstLine) as { readonly urls: readonly [string] };
  await using client = await connect(urls[0]);
  const producer = await client.createProducer({ topic: "t" });
  await producer.send({ data: Buffer.from("x") });
  rmSync(data, { recursive: true });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([1, null]);
  expect(JSON.parse(said.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    error: { code: "STORAGE", message: expect.stringMatching(/^ENOENT/) as string, exitCode: 1 },
  });
});

test("inspect shows segments and cursors of a broker that runs, and fails on damage", async () => {
  const data = join(folder, "inspected");
  const { firstLine } = await start("--data", data, "--json");
  const { urls } = JSON.parse(firstLine) as { readonly urls: readonly [string] };
  await using client = await connect(urls[0]);
  await client.subscribe({ topic: "t", subscription: "s" });
  const producer = await client.createProducer({ topic: "t" });
  await producer.send({ data: Buffer.from("x") });
  const shown = run("inspect", data);
  expect(shown.status).toBe(0);
  expect(shown.stdout).toMatch(
    /^topic persistent:\/\/public\/default\/t\n {2}segment 0, open: 1 entries, \d+ bytes.*\n {2}cursor "s": mark-delete .*\n1 topics, no damage\n$/,
  );
  const { stdout } = run("inspect", data, "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    topics: [{ segments: [{ entries: 1 }] }],
    damage: [],
  });
  const [topic = ""] = readdirSync(join(data, "topics"));
  const name = readdirSync(join(data, "topics", topic)).find((file) => file.includes("name")) ?? "";
  writeFileSync(join(data, "topics", topic, name), "no name");
  const damaged = run("inspect", data);
  expect([damaged.status, damaged.stdout]).toEqual([
    1,
    expect.stringMatching(/^damage: .* is damaged/m),
  ]);
  expect(run("inspect", join(folder, "nowhere"))).toMatchObject({ status: 1, stdout: "" });
});

test("damaged bytes are said on stderr with their file", async () => {
  const data = join(folder, "harmed");
  const first = await start("--data", data, "--json");
  {
    const { urls } = JSON.parse(first.firstLine) as { readonly urls: readonly [string] };
    await using client = await connect(urls[0]);
    await client.subscribe({ topic: "t", subscription: "s" });
    const producer = await client.createProducer({ topic: "t" });
    for (let sent = 0; sent < 3; sent++) await producer.send({ data: Buffer.alloc(1_000, "x") });
  }
  first.child.kill("SIGTERM");
  await once(first.child, "close");
  const [topic = ""] = readdirSync(join(data, "topics"));
  const name = readdirSync(join(data, "topics", topic)).find((file) => file.endsWith(".log")) ?? "";
  const file = join(data, "topics", topic, name);
  const bytes = readFileSync(file);
  bytes[600] = (bytes[600] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const { child, firstLine } = await start("--data", data, "--json");
  const said = once(child.stderr ?? child, "data");
  const { urls } = JSON.parse(firstLine) as { readonly urls: readonly [string] };
  await using client = await connect(urls[0]);
  await client.subscribe({ topic: "t", subscription: "s" });
  expect(String(await said)).toMatch(new RegExp(`stored bytes of .*/t are damaged: .*${name}`));
});

test("administration is served beside it", async () => {
  const { firstLine } = await start("--memory", "--json", "--admin", "127.0.0.1:0");
  const { admin } = JSON.parse(firstLine) as { readonly admin: string };
  const answer = await fetch(`${admin}/admin/v2/brokers/health`);
  expect(await answer.text()).toBe("ok");
});

test("says it as JSON", async () => {
  const { firstLine } = await start("--memory", "--json", "--partitions", "orders=4", "a=1");
  expect(JSON.parse(firstLine)).toEqual({
    event: "ready",
    urls: [expect.stringMatching(/^pulsar:/) as string],
    data: null,
  });
});

test("a folder that another broker has is a failure", async () => {
  const data = join(folder, "taken");
  await start("--data", data);
  const { status, stderr } = run("--listen", "pulsar://127.0.0.1:0", "--data", data);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^.+\n$/);
});

test("an address that is taken is a failure", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { status, stderr } = run("--memory", "--listen", `pulsar://127.0.0.1:${port}`);
  other.close();
  expect([status, stderr]).toEqual([
    1,
    `cannot listen on 127.0.0.1:${port}: another program listens there; stop it, or choose another port\n`,
  ]);
});

test.each([
  [["--listen", "tcp://x"], /"tcp:\/\/x" is no address/],
  [["--memory", "--data", "x"], /exclude each other/],
  [["--memory", "--partitions", "orders"], /not like orders=4/],
  [["--retention-ms", "soon"], /--retention-ms is soon; it must be a whole number/],
  [["--token-secret-file", "short.key"], /secretKey has 6 bytes/],
  [["--colour"], /unknown option/],
  [["inspect"], /missing required argument 'folder'[\s\S]*sluice broker inspect --help/],
  [
    ["--memory", "--listen", "pulsar://127.0.0.1:0", "--admin", "nowhere"],
    /is no address for administration/,
  ],
  [["--memory", "--listen", "pulsar://127.0.0.1:0", "--admin", "0.0.0.0:0"], /needs a token/],
  [["--memory", "--listen", "pulsar://0.0.0.0:0"], /allowAnonymous/],
  [["--memory", "--token-no-expiry"], /needs --token-secret-file/],
  [["--memory", "--admin-token-file", "short.key"], /needs --admin/],
])("%j is wrong usage", (args, why) => {
  const { status, stderr } = run(...args);
  expect(status).toBe(2);
  expect(stderr).toMatch(why);
  expect(stderr).not.toContain("canary");
});

function run(...args: readonly string[]): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  return spawnSync(process.execPath, [bin, "broker", ...args], { cwd: folder, encoding: "utf8" });
}
