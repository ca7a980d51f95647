/** Two `sluice run` processes share the limit of a group through a real Redis. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import { expect, onTestFinished, test } from "vitest";
import { NEEDS_REDIS, redisPath, RedisServer } from "../../fleet/test/redis-server.ts";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));
const RATE = 400;

async function run(file: string): Promise<string> {
  const child = spawn(process.execPath, [bin, "run", file, "--json"]);
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return (JSON.parse(line) as { readonly gateway: string }).gateway;
}

test.skipIf(redisPath === undefined)(
  `two gateways of one store let the rate of a shared group through together${NEEDS_REDIS}`,
  // A busy machine delays syncs and receipts: it has three tries.
  { retry: 2 },
  async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const folder = mkdtempSync(join(tmpdir(), "sluice-shared-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "flow.yaml");
    writeFileSync(
      file,
      `
name: shop
store: { redis: { url: "${redis.url}" } }
gateway:
  listen: pulsar://127.0.0.1:0
  data: memory
  limits: { groups: { all: { topics: [public], messages: ${RATE}/s, shared: true } } }`,
    );
    let accepted = 0;
    for (const url of await Promise.all([run(file), run(file)])) {
      const client = await connect(url);
      onTestFinished(() => client.close());
      const producer = await client.createProducer({ topic: "t", batching: false });
      // 200 messages are always on their way: each gateway wants the whole rate.
      const send = async (): Promise<void> => {
        for (;;) {
          await producer.send({ data: Buffer.from("x") });
          accepted++;
        }
      };
      for (let i = 0; i < 200; i++) void send().catch(() => undefined);
    }
    // Until both have their share: a joiner of a running pool has it within 7 s.
    await systemTimer.sleep(10_000);
    const [before, fromMs] = [accepted, systemTimer.now()];
    await systemTimer.sleep(10_000);
    const perSecond = ((accepted - before) * 1_000) / (systemTimer.now() - fromMs);
    expect(perSecond).toBeLessThanOrEqual(1.05 * RATE);
    expect(perSecond).toBeGreaterThanOrEqual(0.9 * RATE);
  },
);
