/** What the documents show is run, and where they point there is something. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { startBroker } from "@sluice/gateway";
import { loadScenario, simulate } from "@sluice/lab";
import { loadFlow } from "../packages/sluice/src/flow/flow-file.ts";
import { serve } from "../packages/egress/test/server-loopback.ts";
import { redisPath, RedisServer } from "../packages/fleet/test/redis-server.ts";
import { filesIn, pathOf, read } from "./tree.ts";

const documents = filesIn().filter((file) => file.endsWith(".md"));
/** Programs that end by themselves; the quickstart has a test of its own. */
const examples = filesIn("examples/").filter((file) =>
  /^examples\/(?:(?:recipes|migration)\/)?[^/]+$/.test(file),
);
/** Where documents have a service to call, a Redis server and a Pulsar broker. */
const SERVICE_ADDRESS = "https://api.example.com";
const REDIS_ADDRESS = "redis://127.0.0.1:6379";
const PULSAR_ADDRESS = "pulsar://localhost:6650";

test.each(examples)("%s runs to its end", async (file) => {
  const program = read(file);
  if (program.includes(REDIS_ADDRESS)) {
    if (redisPath === undefined) return;
    const redis = await RedisServer.start();
    try {
      await runCopy(file, program.replaceAll(REDIS_ADDRESS, redis.url));
    } finally {
      await redis.stop();
    }
  } else if (program.includes(PULSAR_ADDRESS)) {
    const listen = "pulsar://127.0.0.1:0";
    const broker = await startBroker({ listen, data: "memory", partitions: { clicks: 3 } });
    try {
      await runCopy(file, program.replaceAll(PULSAR_ADDRESS, broker.url));
    } finally {
      await broker.close();
    }
  } else if (program.includes(SERVICE_ADDRESS)) {
    const url = await serve(createServer((_, response) => response.end("tea")));
    await runCopy(file, program.replaceAll(SERVICE_ADDRESS, url));
  } else await expect(import(pathToFileURL(pathOf(file)).href)).resolves.toBeDefined();
});

/** Runs an example with the address of a server of the test. */
async function runCopy(file: string, program: string): Promise<void> {
  const copy = pathOf(`.cache/${file}`);
  mkdirSync(dirname(copy), { recursive: true });
  writeFileSync(copy, program);
  await expect(import(pathToFileURL(copy).href)).resolves.toBeDefined();
}

test("every TypeScript block of a document is one of the examples", () => {
  const programs = new Set(examples.map((file) => read(file).trim()));
  const blocks = documents.flatMap((file) => fences(file, "ts"));
  expect(blocks.length).toBeGreaterThan(0);
  expect(blocks.filter((block) => !programs.has(block))).toEqual([]);
});

describe("every sluice command of a document runs", () => {
  const commands = documents
    .flatMap((file) => fences(file, "sh"))
    .flatMap((block) => block.split("\n"))
    .filter((line) => line.startsWith("npx sluice "));

  // All scenarios in one command take a minute on a machine that is busy with other work.
  const timeout = 300_000;

  test.each([...new Set(commands)])("%s", { timeout }, async (command) => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-docs-"));
    const args = command
      .replace(/#.*/, "")
      .split(" ")
      .filter((word) => word !== "")
      .slice(2)
      .map((word) => (word.endsWith(".svg") ? join(folder, word) : word))
      .map((word) => word.replace("127.0.0.1:7070", "127.0.0.1:0"));
    const bin = pathOf("packages/sluice/bin/sluice.js");
    // What runs until it is stopped is stopped once it is ready. Its port and folder may be taken.
    const status =
      args[0] === "broker"
        ? await statusOfServer([bin, ...args, "--listen", "pulsar://127.0.0.1:0"], folder)
        : await statusOf([bin, ...args]);
    rmSync(folder, { recursive: true });
    expect(status).toBe(0);
  });
});

test("scenarios that stand in a document are right", async () => {
  const blocks = documents
    .flatMap((file) => fences(file, "yaml").map((text) => ({ file, text })))
    .filter(({ text }) => text.includes("kind:"));
  expect(blocks.length).toBeGreaterThan(0);
  for (const { file, text } of blocks) {
    expect((await simulate(loadScenario(text, file))).result.missed).toEqual([]);
  }
});

test("flow files that stand in a document are right", () => {
  const blocks = documents
    .flatMap((file) => fences(file, "yaml").map((text) => ({ file, text })))
    .filter(({ text }) => /^gateway:/m.test(text));
  expect(blocks.length).toBeGreaterThan(0);
  for (const { file, text } of blocks) expect(() => loadFlow(text, file)).not.toThrow();
});

test.each(filesIn("docs/charts/"))("%s is what its scenario draws", async (chart) => {
  const scenario = chart.replace("docs/charts", "scenarios").replace(".svg", ".yaml");
  expect((await simulate(loadScenario(read(scenario), scenario))).svg()).toBe(read(chart));
});

test("every benchmark has results with machine and date", () => {
  const results = read("bench/RESULTS.md");
  const benches = [...read("bench/src/main.ts").matchAll(/\["(\w+)", bench/g)];
  expect(benches.length).toBeGreaterThan(0);
  for (const [, name] of benches) {
    const section = results.split(`\n## ${name}: `)[1]?.split("\n## ")[0];
    expect(section, name).toMatch(/cores, Node v\d+.*\d{4}-\d{2}-\d{2}/);
  }
});

async function statusOf(args: readonly string[]): Promise<unknown> {
  const [status] = (await once(
    spawn(process.execPath, args, { cwd: pathOf("."), stdio: "ignore" }),
    "exit",
  )) as unknown[];
  return status;
}

async function statusOfServer(args: readonly string[], cwd: string): Promise<unknown> {
  const server = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(server, "exit");
  await Promise.race([once(server.stdout, "data"), exited]);
  server.kill("SIGTERM");
  const [status] = (await exited) as unknown[];
  return status;
}

function fences(file: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...read(file).matchAll(fence)].map(([, block = ""]) => block.trim());
}
