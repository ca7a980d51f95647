/** A bucket shared by threads as the rate of their gates. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { createGate } from "@sluice/egress";
import { expect, test } from "vitest";
import { SharedBucket } from "../src/threads/shared-bucket.ts";

const RATE = 200;
const CAPACITY = 20;

/** Gates of `threads` threads on one bucket, each with callers that never stop; answers all starts. */
function callThrough(threads: number) {
  const timer = new VirtualTimer();
  // As in threads, the clocks of gates are ahead of the clock of the bucket, or behind it.
  const clock = { now: () => timer.now() - 1e6 };
  const first = SharedBucket.create({ rate: RATE, capacity: CAPACITY, clock });
  const rest = Array.from({ length: threads - 1 }, () =>
    SharedBucket.attach(structuredClone(first.handle), { clock }),
  );
  const startsMs: number[] = [];
  const gates = [first, ...rest].map((rate, i) =>
    createGate({ rate, maxWaiting: 100, runtime: { timer, random: new SeededRandom(i) } }),
  );
  const callers = gates.flatMap((gate) =>
    Array.from({ length: 5 }, async () => {
      for (;;) await gate.run(() => startsMs.push(timer.now()));
    }),
  );
  const close = async (): Promise<void> => {
    for (const gate of gates) gate.close();
    await Promise.allSettled(callers);
  };
  return { timer, gates, startsMs, close };
}

test("gates of several threads together get the rate of their bucket, no more and no less", async () => {
  const { timer, gates, startsMs, close } = callThrough(3);
  await timer.advance(5000);
  expect(startsMs.length).toBeLessThanOrEqual(CAPACITY + 5 * RATE);
  expect(startsMs.length).toBeGreaterThanOrEqual(0.98 * 5 * RATE);
  for (let second = 1; second < 5; second++) {
    const inSecond = startsMs.filter((ms) => ms >= 1000 * second && ms < 1000 * (second + 1));
    expect(Math.abs(inSecond.length - RATE)).toBeLessThanOrEqual(0.05 * RATE);
  }
  expect(gates.map((gate) => gate.why()?.reason)).toEqual(["rate", "rate", "rate"]);
  await close();
  expect(timer.sleeping).toBe(0);
});

test("a call that weighs more than the bucket holds waits until it is full, and later calls pay for it", async () => {
  const timer = new VirtualTimer();
  const rate = SharedBucket.create({ rate: 10, capacity: 5, clock: timer });
  expect(rate.tryAcquire(5)).toBe(true);
  const gate = createGate({ rate, runtime: { timer, random: new SeededRandom(1) } });
  let startedMs = -1;
  const running = gate.run(() => (startedMs = timer.now()), { weight: 15 });
  await timer.advance(600);
  await running;
  expect(startedMs).toBeGreaterThanOrEqual(500);
  expect(startedMs).toBeLessThanOrEqual(520);
  expect(rate.balance()).toBeLessThanOrEqual(-9);
  gate.close();
});

test("the example of the README runs: four threads call one server, and the process ends", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, example = ""] = /^```js\n(.*?SharedBucket.*?)^```/ms.exec(readme) ?? [];
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.end("ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // Inside the workspace, so that the packages are found.
  const cache = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "sluice-threads-"));
  try {
    const file = join(folder, "main.mjs");
    writeFileSync(file, example.replace("https://api.example.com", `http://127.0.0.1:${port}`));
    const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.on("data", (data: Buffer) => (said += data.toString()));
    child.stderr.on("data", (data: Buffer) => (said += data.toString()));
    const [code] = (await once(child, "exit")) as [number];
    expect({ code, said }).toEqual({ code: 0, said: "200\n".repeat(12) });
    expect(requests).toBe(12);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
