import { expect, test } from "vitest";
import { IngressScene } from "../../../test/ingress-scene.ts";

const RATE = 1_000;

/** When each message went, of a producer that always has something to send; `steps` are the instants of the desk. */
function wentAt(steps: readonly number[]): readonly number[] {
  const scene = new IngressScene({ topicDefault: { messages: RATE } });
  const producer = scene.client().open("t");
  const wentAtMs: number[] = [];
  for (const nowMs of steps) {
    // Not `run`, which would have been awake at each instant before.
    scene.nowMs = nowMs;
    scene.settle();
    while (producer.sent - scene.went.length < 500) producer.send();
    while (wentAtMs.length < scene.went.length) wentAtMs.push(nowMs);
  }
  return wentAtMs;
}

function range(fromMs: number, toMs: number): readonly number[] {
  return Array.from({ length: toMs - fromMs }, (_, i) => fromMs + i);
}

function between(wentAtMs: readonly number[], fromMs: number, toMs: number): number {
  return wentAtMs.filter((atMs) => atMs >= fromMs && atMs < toMs).length;
}

test.each([400, 3_000, 10_000])(
  "a process that stood still for %i ms does not make up for it in one burst, and loses at most what is beyond a second",
  (stoodMs) => {
    const wentAtMs = wentAt([...range(0, 4_000), ...range(4_000 + stoodMs, 40_000)]);
    for (let fromMs = 1_000; fromMs < 39_000; fromMs += 50)
      expect(between(wentAtMs, fromMs, fromMs + 1_000), `from ${fromMs}`).toBeLessThanOrEqual(
        RATE * 1.05,
      );
    // The bucket was full at the start, and what gathers beyond a second is lost.
    const lost = (RATE * Math.max(0, stoodMs - 1_000)) / 1_000;
    expect(wentAtMs.length).toBeGreaterThan(RATE * 40.3 - lost);
  },
);

test("a full bucket may burst in the first second, also after a calm one", () => {
  const wentAtMs = wentAt([...range(0, 2_000), ...range(5_000, 7_000)]);
  expect(between(wentAtMs, 0, 1_000)).toBeGreaterThan(RATE * 1.9);
});

test("a limit that is lifted while frames wait at their pace lets all of them go at once", () => {
  const scene = new IngressScene({ topics: { t: { messages: RATE } } });
  const producer = scene.client().open("t");
  for (const nowMs of range(0, 3_000)) {
    scene.run(nowMs);
    while (producer.sent - scene.went.length < 500) producer.send();
  }
  scene.ingress.limits.unset({ level: "topic", name: "t" }, 3_000);
  scene.run(3_000);
  expect(scene.went.length).toBe(producer.sent);
});

test("a limit that is raised while frames wait at their pace holds from the next instant on", () => {
  const scene = new IngressScene({ topics: { t: { messages: RATE } } });
  const producer = scene.client().open("t");
  for (const nowMs of range(0, 3_000)) {
    scene.run(nowMs);
    while (producer.sent - scene.went.length < 500) producer.send();
  }
  scene.ingress.limits.set({ level: "topic", name: "t" }, { messages: 100 * RATE }, 3_000);
  for (const nowMs of range(3_000, 3_020)) scene.run(nowMs);
  expect(scene.went.length).toBe(producer.sent);
});
