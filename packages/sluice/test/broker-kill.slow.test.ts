/** A broker that is killed under load and started again, by its command line, with a real client. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import type { Producer } from "@sluice/pulsar";
import { expect, onTestFinished, test } from "vitest";
import { startBrokerProcess } from "./broker-process.ts";
import { freePort } from "./free-port.ts";

const KILLS = 6;
const LOAD_MS = 300;
const START_MAX_MS = 2_000;
/** Starting Node with an empty program on a quiet machine. Where that takes longer, so may the broker. */
const EMPTY_START_MS = 60;
const TOPIC = "public/default/orders";

test("what was acknowledged is there after six kills, in order, and each start is quick", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-kill-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const args = ["--listen", `pulsar://127.0.0.1:${await freePort()}`, "--data", folder];
  const acknowledged: number[] = [];
  let sent = 0;
  const startsMs: number[] = [];
  const emptyStartsMs: number[] = [];
  let broker = await startBrokerProcess(args);
  onTestFinished(() => broker.kill());
  await using client = await connect(broker.url);
  // The subscription is there from the start, so that retention keeps what it has not seen.
  const early = await client.subscribe({ topic: TOPIC, subscription: "all" });
  await early.close();
  const producer = await client.createProducer({
    topic: TOPIC,
    batching: { messagesMax: 50 },
    sendTimeoutMs: 0,
  });
  const load = new Load(producer, {
    next: () => sent++,
    onStored: (index) => acknowledged.push(index),
  });

  for (let kill = 0; kill < KILLS; kill++) {
    const before = acknowledged.length;
    await systemTimer.sleep(LOAD_MS);
    await load.storedMoreThan(() => acknowledged.length > before);
    await broker.kill();
    emptyStartsMs.push(await emptyStartMs());
    const startedAtMs = systemTimer.now();
    broker = await startBrokerProcess(args);
    startsMs.push(systemTimer.now() - startedAtMs);
  }
  await load.stop();
  expect(acknowledged.length).toBe(sent);
  // 0.25 to 0.3 s on a quiet machine. A start that a busy machine delayed tells nothing of the broker.
  const slowness = Math.max(1, medianOf(emptyStartsMs) / EMPTY_START_MS);
  expect(medianOf(startsMs)).toBeLessThan(START_MAX_MS * slowness);

  const consumer = await client.subscribe({ topic: TOPIC, subscription: "all" });
  const found = new Set<number>();
  let highest = -1;
  for await (const message of consumer) {
    const index = message.data.readUInt32BE(0);
    // A message that was sent again may be there twice; a gap must not be.
    expect(index).toBeLessThanOrEqual(highest + 1);
    highest = Math.max(highest, index);
    found.add(index);
    if (found.size === sent) break;
  }
  expect(acknowledged.filter((index) => !found.has(index))).toEqual([]);
  expect(await broker.stop()).toBe(0);
});

/** Sends all the time, some hundred messages at once. */
class Load {
  readonly #producer: Producer;
  readonly #running: Promise<void>;
  #isStopping = false;

  constructor(
    producer: Producer,
    events: { readonly next: () => number; readonly onStored: (index: number) => void },
  ) {
    this.#producer = producer;
    this.#running = this.#run(events);
  }

  /** Until something was stored since: a kill before that would test nothing. */
  async storedMoreThan(isSo: () => boolean): Promise<void> {
    while (!isSo()) await systemTimer.sleep(5);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run({
    next,
    onStored,
  }: {
    readonly next: () => number;
    readonly onStored: (index: number) => void;
  }): Promise<void> {
    while (!this.#isStopping) {
      const group = Array.from({ length: 300 }, async () => {
        const index = next();
        const data = Buffer.alloc(256);
        data.writeUInt32BE(index, 0);
        await this.#producer.send({ data });
        onStored(index);
      });
      await Promise.all(group);
    }
  }
}

async function emptyStartMs(): Promise<number> {
  const startedAtMs = systemTimer.now();
  await once(spawn(process.execPath, ["--eval", "0"]), "exit");
  return systemTimer.now() - startedAtMs;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
