/** The broker as a process that is killed with SIGKILL while messages are on their way. Needs a build. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pulsarSink } from "../src/connector/pulsar/pulsar-sink.ts";
import { pulsarSource } from "../src/connector/pulsar/pulsar-source.ts";
import type { Message } from "../src/message.ts";
import { connectorScene, messageOf, readCount, textOf, unhurried } from "./connector-scene.ts";

const SCRIPT = fileURLToPath(new URL("broker-process.mjs", import.meta.url));

let folder: string;
let port: number;
let broker: ChildProcess;

async function start(at: number): Promise<void> {
  broker = spawn(process.execPath, [SCRIPT, folder, `pulsar://127.0.0.1:${at}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: broker.stdout as Readable }), "line")) as [
    string,
  ];
  port = Number(line);
}

async function kill(): Promise<void> {
  const ended = once(broker, "exit");
  broker.kill("SIGKILL");
  await ended;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-pipeline-"));
  await start(0);
});

afterEach(async () => {
  await kill();
  await rm(folder, { recursive: true, force: true });
});

const batch = (from: number): Message[] =>
  Array.from({ length: 100 }, (_, i) => messageOf(`m${from + i}`, { id: `${from + i}` }));

test("a killed broker loses nothing that was written, and delivers again only what was not acknowledged", async () => {
  const options = { url: `pulsar://127.0.0.1:${port}`, topic: "orders" };
  const scene = connectorScene();
  const source = await pulsarSource({ ...options, subscription: "shop", format: "bytes" }).open(
    scene.context,
  );
  const sink = await pulsarSink(options).open(connectorScene().context);
  expect(await sink.write(batch(0), unhurried)).toBeUndefined();
  const first = await readCount(source, 60);
  await source.ack(first.slice(0, 50));

  await kill();
  // Both are in the middle of something: the producer sends again, the acknowledgement waits.
  const writing = sink.write(batch(100), unhurried);
  const acking = source.ack(first.slice(50, 55));
  await start(port);
  expect(await writing).toBeUndefined();
  await acking;

  const acknowledged = new Set(first.slice(0, 55).map(textOf));
  const seen = new Set<string>();
  while (seen.size < 145) {
    const more = await readCount(source, 1);
    for (const text of more.map(textOf)) {
      // The acknowledgement that waited may come after the redelivery of its messages.
      if (!first.slice(50, 55).map(textOf).includes(text))
        expect(acknowledged.has(text), text).toBe(false);
      if (!acknowledged.has(text)) seen.add(text);
    }
    await source.ack(more);
  }
  expect(seen.size).toBe(145);
  expect(scene.told.some(({ level }) => level === "warning")).toBe(true);
  expect(scene.told.at(-1)?.text).toContain("has a broker again");
  await source.close();
  await sink.close();
});
