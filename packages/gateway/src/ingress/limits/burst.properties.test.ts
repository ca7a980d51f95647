import fc from "fast-check";
import { expect, test } from "vitest";
import { IngressScene } from "../../../test/ingress-scene.ts";
import type { SceneProducer } from "../../../test/ingress-scene.ts";

const RATE = 1_000;

interface Load {
  /** Offered messages ÷ the limit at an instant. */
  readonly timesAt: (nowMs: number) => number;
  readonly batch: number;
  readonly producers: number;
}

/** Messages by the millisecond. */
interface Traffic {
  readonly offered: Float64Array;
  readonly went: Float64Array;
}

function trafficOf({ timesAt, batch, producers }: Load, seconds: number): Traffic {
  const scene = new IngressScene({ topicDefault: { messages: RATE } });
  const clients = Array.from({ length: producers }, () => scene.client().open("t"));
  const offered = new Float64Array(seconds * 1_000);
  let due = 0;
  let next = 0;
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs++) {
    scene.run(nowMs);
    due += (timesAt(nowMs) * RATE) / 1_000;
    for (; due >= batch; due -= batch) {
      (clients[next++ % clients.length] as SceneProducer).send(batch);
      offered[nowMs] = (offered[nowMs] ?? 0) + batch;
    }
  }
  const went = new Float64Array(seconds * 1_000);
  for (const { atMs, messages } of scene.went) {
    const at = Math.floor(atMs);
    went[at] = (went[at] ?? 0) + messages;
  }
  return { offered, went };
}

/** The most messages of a sliding second that begins at `fromMs` or later. */
function fullestSecond(went: Float64Array, fromMs: number): number {
  let sum = 0;
  let most = 0;
  for (let at = fromMs; at < went.length; at++) {
    sum += went[at] ?? 0;
    if (at - fromMs >= 1_000) sum -= went[at - 1_000] ?? 0;
    most = Math.max(most, sum);
  }
  return most;
}

function sumOf(counts: Float64Array, fromMs: number, toMs: number = counts.length): number {
  return counts.slice(fromMs, toMs).reduce((sum, count) => sum + count, 0);
}

const batch = fc.constantFrom(1, 5, 20, 100);

test("at any load above the limit no second after the first exceeds 1.05 × the limit and one frame, and 0.98 × are used", () => {
  const load = fc.record({
    times: fc.double({ min: 1.01, max: 10, noNaN: true }),
    batch,
    producers: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(load, ({ times, ...rest }) => {
      const { went } = trafficOf({ timesAt: () => times, ...rest }, 12);
      expect(fullestSecond(went, 1_000)).toBeLessThanOrEqual(RATE * 1.05 + rest.batch);
      expect(sumOf(went, 2_000)).toBeGreaterThanOrEqual(RATE * 0.98 * 10 - rest.batch);
    }),
    {
      numRuns: 40,
      examples: [1.1, 1.12, 1.25, 1.49, 1.9].map((times) => [{ times, batch: 1, producers: 1 }]),
    },
  );
});

/** An overload that empties the bucket: what it had at the start would hide tokens that are lost later. */
const EMPTYING_MS = 2_000;

/** Messages by which a ring that wakes for 10 ms of the rate, at a pace of 1.015 × the rate, may be behind. */
const BEHIND = RATE * 0.04;

test("a load that comes and goes is at no instant behind a queue that is served at the limit without a break", () => {
  const load = fc.record({
    /** Offered messages ÷ the limit, in turn, each for one phase. */
    phases: fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 2, maxLength: 6 }),
    phaseMs: fc.integer({ min: 200, max: 3_000 }),
    batch,
    producers: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(load, ({ phases, phaseMs, ...rest }) => {
      const timesAt = (nowMs: number): number =>
        nowMs < EMPTYING_MS ? 2 : (phases[Math.floor(nowMs / phaseMs) % phases.length] ?? 0);
      const { offered, went } = trafficOf({ timesAt, ...rest }, 20);
      let queued = sumOf(offered, 0, EMPTYING_MS) - sumOf(went, 0, EMPTYING_MS);
      let ahead = 0;
      for (let nowMs = EMPTYING_MS; nowMs < went.length; nowMs++) {
        queued += offered[nowMs] ?? 0;
        const served = Math.min(queued, RATE / 1_000);
        queued -= served;
        ahead += (went[nowMs] ?? 0) - served;
        if (ahead < -BEHIND - 2 * rest.batch) expect.fail(`${-ahead} behind at ${nowMs} ms`);
      }
    }),
    { numRuns: 60, examples: [[{ phases: [0.2, 1.6], phaseMs: 2_000, batch: 1, producers: 1 }]] },
  );
});

test("a producer that sends 900 messages at once, and again after a break, has a full bucket again", () => {
  const scene = new IngressScene({ topicDefault: { messages: RATE } });
  const producer = scene.client().open("t");
  for (const atMs of [0, 2_000, 4_000]) {
    scene.run(atMs);
    const isAtOnce = Array.from({ length: 900 }, () => producer.send());
    expect(isAtOnce.every(Boolean), `at ${atMs} ms`).toBe(true);
  }
});

test("an even load just below the limit never waits, before and after a burst", () => {
  const scene = new IngressScene({ topicDefault: { messages: RATE } });
  const producer = scene.client().open("t");
  for (let nowMs = 0; nowMs < 20_000; nowMs++) {
    scene.run(nowMs);
    if (nowMs === 5_000) for (let count = 0; count < 600; count++) producer.send();
    // 0.9 × the limit, in frames of ten messages.
    if (nowMs % 10 === 0 && nowMs % 100 !== 0) expect(producer.send(10), `${nowMs}`).toBe(true);
  }
});
