import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { LiveSample } from "../src/live/live-message.ts";
import { NEEDS_REDIS, RedisServer } from "../../fleet/test/redis-server.ts";
import { bin, runFlow, until } from "./run-flow.ts";

const FLOW = `
name: shop
admin: { listen: 127.0.0.1:0 }
gateway: { listen: "pulsar://127.0.0.1:0", data: memory, limits: { topics: { orders: { messages: 20/s } } } }
pipelines:
  traffic:
    vertices:
      - { name: make, source: { generator: { rate: 40/s } } }
      - { name: publish, sink: { pulsar: { topic: orders } } }
`;

/** What `sluice top` prints once, without a terminal. */
async function top(admin: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    bin,
    "top",
    "--once",
    "--admin",
    admin,
    ...args,
  ]);
  return stdout;
}

test("top shows the flow, the topic at its limit, the vertices and why it waits", async () => {
  const { ready } = await runFlow(FLOW);
  let text = "";
  await until(
    async () => {
      text = await top(ready.admin);
      return text.includes("topic-rate");
    },
    () => text,
  );
  expect(text).toMatch(/^sluice top {3}shop +\d\d:\d\d:\d\d$/m);
  expect(text).toMatch(/^ orders +[\d.]+\/s +20\/s .*▥ throttled topic-rate/m);
  expect(text).toMatch(/^publish +/m);
  expect(text).toMatch(/^WHY 1 of \d +▥ /m);
  const { sample } = JSON.parse(await top(ready.admin, "--json")) as { sample: LiveSample };
  expect(sample.pipelines.map(({ name }) => name)).toEqual(["traffic"]);
});

test.skipIf(NEEDS_REDIS !== "")(`top shows the fleet of a shared limit${NEEDS_REDIS}`, async () => {
  const redis = await RedisServer.start();
  try {
    const limits = "limits: { rateLimit: { max: 10, min: 10 } }";
    const { ready } = await runFlow(
      `${FLOW.replace("name: make,", `name: make, ${limits},`)}store: { redis: { url: "${redis.url}" } }\n`,
    );
    let text = "";
    await until(
      async () => {
        text = await top(ready.admin);
        return /^FLEET +.*ceiling 10\/s of 10 +store answer/m.test(text);
      },
      () => text,
    );
    expect(text).toMatch(/^sluice top {3}shop, member \w+ of 1/m);
  } finally {
    await redis.stop();
  }
});

test("top exits with 1 and says what to do if no gateway answers", () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [bin, "top", "--once", "--admin", "http://127.0.0.1:1"],
    { encoding: "utf8" },
  );
  expect(status).toBe(1);
  expect(stderr).toContain("start one with sluice run, or give --admin");
});
