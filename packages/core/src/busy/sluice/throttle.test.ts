import fc from "fast-check";
import { expect, test } from "vitest";
import { SeededRandom } from "../../random.ts";
import { SluiceBusyThrottle } from "./throttle.ts";

const RTT_MS = 50;

/** A client that offers evenly, and a peer that answers after 50 ms what `isBusy` says. */
class Line {
  readonly throttle: SluiceBusyThrottle;
  readonly #inFlight: { sentAtMs: number; isBusy: boolean }[] = [];
  nowMs = 0;

  constructor() {
    this.throttle = new SluiceBusyThrottle({ clock: { now: () => this.nowMs } });
  }

  /** Infinity: there is none. */
  get limit(): number {
    return this.throttle.state().limit ?? Infinity;
  }

  /** Offers for `forMs`; how many were sent. */
  offer(perSecond: number, forMs: number, isBusy: (nowMs: number) => boolean): number {
    const startedAtMs = this.nowMs;
    let sent = 0;
    for (let i = 0; i < (perSecond * forMs) / 1000; i++) {
      this.wait(startedAtMs + (i * 1000) / perSecond - this.nowMs);
      if (!this.throttle.trySend()) continue;
      sent++;
      this.#inFlight.push({ sentAtMs: this.nowMs, isBusy: isBusy(this.nowMs) });
    }
    this.wait(startedAtMs + forMs - this.nowMs);
    return sent;
  }

  /** Answers come while time passes. */
  wait(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const next = this.#inFlight[0];
      if (next === undefined || next.sentAtMs + RTT_MS > untilMs) break;
      this.#inFlight.shift();
      this.nowMs = next.sentAtMs + RTT_MS;
      this.throttle.onAnswer(next.sentAtMs, next.isBusy);
    }
    this.nowMs = Math.max(untilMs, this.nowMs);
  }
}

const never = (): boolean => false;
const always = (): boolean => true;

/** Offers until there is a limit, and gives it. */
function firstLimit(line: Line, perSecond: number, isBusy: (nowMs: number) => boolean): number {
  for (let i = 0; i < 1000 && line.limit === Infinity; i++)
    line.offer(perSecond, Math.max(5, 1000 / perSecond), isBusy);
  return line.limit;
}

test("without busy answers nothing is limited", () => {
  const line = new Line();
  expect(line.offer(5000, 2000, never)).toBe(10_000);
  expect(line.throttle.state()).toEqual({ limit: undefined, move: "open" });
  expect(line.throttle.pauseMs()).toBe(0);
});

test("busy answers to requests that were sent before a cut never cut again", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 60_000 }),
      fc.integer({ min: 0, max: 3000 }),
      (rate, late) => {
        const line = new Line();
        line.offer(rate, 1000, never);
        const limit = firstLimit(line, rate, always);
        const cutAtMs = line.nowMs;
        for (let i = 0; i < late; i++) {
          line.nowMs += 500 / late;
          line.throttle.onAnswer(cutAtMs - (i % 50), true);
        }
        expect(line.limit).toBe(limit);
      },
    ),
    { numRuns: 20 },
  );
});

test("a burst of three thousand busy answers is one cut, by half at most", () => {
  const line = new Line();
  line.offer(60_000, 1000, never);
  line.offer(60_000, 50, always);
  line.wait(10_000);
  line.throttle.trySend();
  expect(line.limit).toBeGreaterThanOrEqual(0.5 * 60_000 * 0.98);
  expect(line.limit).toBeLessThan(60_000);
});

test("the first cut never goes below half of what was sent, whatever is busy", () => {
  const share = fc.double({ min: 0.05, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 20_000 }), share, fc.integer(), (rate, busy, seed) => {
      const random = new SeededRandom(seed);
      const line = new Line();
      line.offer(rate, 1500, never);
      const limit = firstLimit(line, rate, () => random.next() < busy);
      expect(limit).toBeGreaterThanOrEqual(0.5 * rate * 0.95);
      expect(limit).toBeLessThanOrEqual(1.05 * rate);
    }),
    { numRuns: 30 },
  );
});

test("a cut goes to a little below what is accepted", () => {
  const line = new Line();
  line.offer(5000, 1000, never);
  let count = 0;
  const limit = firstLimit(line, 5000, () => ++count % 4 === 0);
  expect(limit).toBeGreaterThan(0.9 * 3750);
  expect(limit).toBeLessThan(3750);
});

test("stray busy answers below one in a hundred throttle nothing", () => {
  fc.assert(
    fc.property(fc.integer({ min: 110, max: 5000 }), fc.integer(), (every, seed) => {
      const random = new SeededRandom(seed);
      const line = new Line();
      let count = 0;
      expect(line.offer(5000, 5000, () => ++count % every === 0)).toBe(25_000);
      expect(line.offer(5000, 5000, () => random.next() < 0.5 / 100)).toBe(25_000);
    }),
    { numRuns: 10 },
  );
});

test.each([
  [0.015, 5000],
  [0.02, 5000],
  [0.05, 1000],
  [0.05, 5000],
  [0.1, 200],
  [0.1, 1000],
  [0.1, 5000],
  [0.2, 5000],
])(
  "busy answers that are %d of all, whatever is sent, hardly throttle %d a second",
  (share, rate) => {
    for (const seed of [1, 2, 3]) {
      const random = new SeededRandom(seed);
      const line = new Line();
      const sent = line.offer(rate, 60_000, () => random.next() < share);
      expect(sent / (60 * rate)).toBeGreaterThan(0.85);
    }
  },
);

test("a peer that gets too much is cut at once although other busy answers are put up with", () => {
  const random = new SeededRandom(1);
  const line = new Line();
  line.offer(5000, 10_000, () => random.next() < 0.05);
  line.offer(5000, 500, () => random.next() < 0.6);
  expect(line.limit).toBeLessThan(0.6 * 5000);
});

test("one or two busy answers throttle nothing, however small the flow", () => {
  const line = new Line();
  let count = 0;
  expect(line.offer(5, 4000, () => ++count <= 2)).toBe(20);
});

test("a peer that is always busy gets a request a second, for ever", () => {
  const line = new Line();
  line.offer(1000, 30_000, always);
  for (let i = 0; i < 20; i++) {
    const sent = line.offer(1000, 10_000, always);
    expect(sent).toBeGreaterThanOrEqual(9);
    expect(sent).toBeLessThanOrEqual(40);
    expect(line.limit).toBeGreaterThanOrEqual(1);
  }
});

/** How long after an outage of so many seconds nothing is limited any more. */
function recoveryMs(outageS: number): number {
  const line = new Line();
  line.offer(200, 1000, never);
  line.offer(200, 1000 * outageS, always);
  const endedAtMs = line.nowMs;
  while (line.limit < Infinity) line.offer(200, 5, never);
  return line.nowMs - endedAtMs;
}

// Before, the rate still falls, and by how much depends on where in a sample the outage ends.
test("from the lowest rate on, each second that an outage lasts longer makes recovery longer", () => {
  const dense = Array.from({ length: 44 }, (_, i) => 17 + i);
  const lengths = [...dense, 75, 90, 120, 200, 300, 600].map(recoveryMs);
  for (const [i, length] of lengths.slice(1).entries())
    expect(length).toBeGreaterThan(lengths[i] ?? Number.NaN);
});

test("an outage of some seconds is recovered from sooner than a long one", () => {
  const longMs = recoveryMs(20);
  for (let outageS = 1; outageS < 15; outageS++) expect(recoveryMs(outageS)).toBeLessThan(longMs);
});

test("an idle client earns nothing: no higher limit, and a burst of some milliseconds", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 50, max: 20_000 }),
      fc.integer({ min: 1, max: 1e8 }),
      (rate, idleMs) => {
        const line = new Line();
        line.offer(rate, 1000, never);
        line.offer(rate, 1000, always);
        line.wait(2 * RTT_MS);
        const { limit } = line;
        line.wait(idleMs);
        expect(line.limit).toBeLessThanOrEqual(limit);
        let burst = 0;
        while (line.throttle.trySend()) burst++;
        expect(burst).toBeLessThanOrEqual(Math.max(2, 1 + 0.021 * limit * 2));
      },
    ),
    { numRuns: 20 },
  );
});

test("a limit that is not used does not grow", () => {
  const line = new Line();
  line.offer(5000, 1000, never);
  firstLimit(line, 5000, always);
  line.offer(100, 5000, never);
  const { limit } = line;
  line.offer(100, 60_000, never);
  expect(line.limit).toBe(limit);
});

test("a limit grows to twice what was sent at most", () => {
  const line = new Line();
  line.offer(5000, 1000, never);
  line.offer(5000, 2000, always);
  let before = line.limit;
  let sentMax = 0;
  for (let i = 0; i < 200 && line.limit < Infinity; i++) {
    sentMax = Math.max(sentMax, 10 * line.offer(5000, 100, never));
    const { limit } = line;
    if (limit > before && limit < Infinity) {
      // Whole requests in a tenth of a second: a rate of few is not measured better.
      expect(limit).toBeLessThanOrEqual(2 * (sentMax + 20));
    }
    before = limit;
  }
  expect(line.limit).toBe(Infinity);
});

test("a process that was frozen for a day goes on where it was", () => {
  const line = new Line();
  line.offer(5000, 1000, never);
  line.offer(5000, 500, always);
  const { limit } = line;
  line.nowMs += 86_400_000;
  expect(line.limit).toBeLessThanOrEqual(limit);
  expect(line.limit).toBeGreaterThanOrEqual(limit / 2);
  line.offer(5000, 6000, never);
  expect(line.limit).toBe(Infinity);
});

test("a peer that stops to answer in the middle of a probe gets no more than before it", () => {
  const line = new Line();
  line.offer(5000, 1000, never);
  line.offer(5000, 500, always);
  line.wait(100);
  for (let i = 0; i < 1000 && line.throttle.state().move === "cut"; i++) {
    line.offer(5000, 10, never);
  }
  const { limit } = line;
  let sent = 0;
  for (let ms = 0; ms < 60_000; ms++) {
    line.nowMs++;
    while (line.throttle.trySend()) if (ms >= 10_000) sent++;
  }
  expect(line.limit).toBe(limit);
  expect(sent / 50 / limit).toBeLessThan(1.01);
});

test("a pause is exactly as long as the next request has to wait", () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 50_000 }), (rate) => {
      const line = new Line();
      line.offer(rate, 2000, never);
      line.offer(rate, 2000, always);
      while (line.throttle.trySend());
      const pauseMs = line.throttle.pauseMs();
      expect(pauseMs).toBeGreaterThan(0);
      line.nowMs += pauseMs;
      expect(line.throttle.trySend()).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test("a call reads the clock once at most, and not at all if it is told the time", () => {
  let readings = 0;
  const throttle = new SluiceBusyThrottle({
    clock: {
      now: () => {
        readings++;
        return 0;
      },
    },
  });
  const calls: ((nowMs?: number) => unknown)[] = [
    (nowMs) => throttle.pauseMs(nowMs),
    (nowMs) => throttle.trySend(nowMs),
    (nowMs) => throttle.onAnswer(0, true, nowMs),
  ];
  for (const call of calls) {
    readings = 0;
    call();
    expect(readings).toBe(1);
    call(5);
    expect(readings).toBe(1);
  }
});
