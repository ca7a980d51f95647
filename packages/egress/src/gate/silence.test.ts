import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";

test("a peer that falls silent gets a probe every 100 ms while all permits hang", async () => {
  const timer = new VirtualTimer();
  const runtime = { timer, random: new SeededRandom(1) };
  const gate = createGate({ name: "peer", concurrency: "adaptive", runtime, maxWaiting: 100_000 });
  let isSilent = false;
  const startsMs: number[] = [];
  const call = async (): Promise<void> => {
    startsMs.push(timer.now());
    // The peer takes 20 at a time, and the others wait for it.
    await timer.sleep(isSilent ? 60_000 : Math.max(100, 5 * gate.inFlight));
  };
  for (let i = 0; i < 10_000; i++) void gate.run(call);
  await timer.advance(10_000);
  isSilent = true;
  const silentAtMs = timer.now();
  await timer.advance(2000);
  const probesMs = startsMs.filter((atMs) => atMs > silentAtMs + 500);
  const gapsMs = probesMs.map((atMs, i) => atMs - (probesMs[i - 1] ?? silentAtMs + 500));
  expect(probesMs.length).toBeGreaterThan(5);
  expect(Math.max(...gapsMs.slice(0, 5))).toBeLessThanOrEqual(101);
});
