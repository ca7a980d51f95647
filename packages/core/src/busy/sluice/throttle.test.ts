import fc from "fast-check";
import { expect, test } from "vitest";
import { SeededRandom } from "../../random.ts";
import { SluiceBusyThrottle } from "./throttle.ts";

const RTT_MS = 50;

/** A client that offers requests evenly, and a peer that answers after 50 ms as `isBusy` says. */
class Client {
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
    const offered = Math.round((perSecond * forMs) / 1000);
    let sent = 0;
    for (let i = 0; i < offered; i++) {
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
function firstLimit(client: Client, perSecond: number, isBusy: (nowMs: number) => boolean): number {
  for (let i = 0; i < 1000 && client.limit === Infinity; i++)
    client.offer(perSecond, Math.max(5, 1000 / perSecond), isBusy);
  return client.limit;
}

test("without busy answers nothing is limited", () => {
  const client = new Client();
  expect(client.offer(5000, 2000, never)).toBe(10_000);
  expect(client.throttle.state()).toEqual({ limit: undefined, move: "open" });
  expect(client.throttle.pauseMs()).toBe(0);
});

test("busy answers to requests that were sent before a cut never cut again", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 3000 }),
      fc.integer({ min: 0, max: 3000 }),
      (rate, late) => {
        const client = new Client();
        client.offer(rate, 1000, never);
        const limit = firstLimit(client, rate, always);
        const cutAtMs = client.nowMs;
        for (let i = 0; i < late; i++) {
          client.nowMs += 500 / late;
          client.throttle.onAnswer(cutAtMs - (i % 50), true);
        }
        expect(client.limit).toBe(limit);
      },
    ),
    { numRuns: 20 },
  );
});

test("a burst of three thousand busy answers is one cut, by half at most", () => {
  const client = new Client();
  client.offer(60_000, 1000, never);
  client.offer(60_000, 50, always);
  client.wait(10_000);
  client.throttle.trySend();
  expect(client.limit).toBeGreaterThanOrEqual(0.5 * 60_000 * 0.98);
  expect(client.limit).toBeLessThan(60_000);
});

test("the first cut never goes below half of what was sent, whatever is busy", () => {
  const share = fc.double({ min: 0.05, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 2000 }), share, fc.integer(), (rate, busy, seed) => {
      const random = new SeededRandom(seed);
      const client = new Client();
      client.offer(rate, 1500, never);
      const limit = firstLimit(client, rate, () => random.next() < busy);
      expect(limit).toBeGreaterThanOrEqual(0.5 * rate * 0.95);
      expect(limit).toBeLessThanOrEqual(1.05 * rate);
    }),
    { numRuns: 30 },
  );
});

test("a cut goes to a little below what is accepted", () => {
  const client = new Client();
  client.offer(5000, 1000, never);
  let count = 0;
  const limit = firstLimit(client, 5000, () => ++count % 4 === 0);
  expect(limit).toBeGreaterThan(0.9 * 3750);
  expect(limit).toBeLessThan(3750);
});

test("random busy answers below 1 % throttle nothing", () => {
  fc.assert(
    fc.property(fc.integer({ min: 110, max: 5000 }), fc.integer(), (every, seed) => {
      const random = new SeededRandom(seed);
      const client = new Client();
      let count = 0;
      expect(client.offer(5000, 5000, () => ++count % every === 0)).toBe(25_000);
      expect(client.offer(5000, 5000, () => random.next() < 0.5 / 100)).toBe(25_000);
    }),
    { numRuns: 3 },
  );
});

test("busy answers that are 5 % of all, whatever is sent, hardly throttle", () => {
  const random = new SeededRandom(1);
  const client = new Client();
  const sent = client.offer(1000, 60_000, () => random.next() < 0.05);
  expect(sent / 60_000).toBeGreaterThan(0.85);
});

test("a peer that gets too much is cut at once although random busy answers are tolerated", () => {
  const random = new SeededRandom(1);
  const client = new Client();
  client.offer(5000, 10_000, () => random.next() < 0.05);
  client.offer(5000, 500, () => random.next() < 0.6);
  expect(client.limit).toBeLessThan(0.6 * 5000);
});

test("one or two busy answers throttle nothing, however small the flow", () => {
  const client = new Client();
  let count = 0;
  expect(client.offer(5, 4000, () => ++count <= 2)).toBe(20);
});

test("a peer that is always busy gets a request a second, for ever", () => {
  const client = new Client();
  client.offer(1000, 30_000, always);
  for (let i = 0; i < 20; i++) {
    const sent = client.offer(1000, 10_000, always);
    expect(sent).toBeGreaterThanOrEqual(9);
    expect(sent).toBeLessThanOrEqual(40);
    expect(client.limit).toBeGreaterThanOrEqual(1);
  }
});

/** How long after an outage of so many seconds nothing is limited any more. */
function recoveryMs(outageS: number): number {
  const client = new Client();
  client.offer(200, 1000, never);
  client.offer(200, 1000 * outageS, always);
  const endedAtMs = client.nowMs;
  while (client.limit < Infinity) client.offer(200, 5, never);
  return client.nowMs - endedAtMs;
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
      fc.integer({ min: 50, max: 5000 }),
      fc.integer({ min: 1, max: 1e8 }),
      (rate, idleMs) => {
        const client = new Client();
        client.offer(rate, 1000, never);
        client.offer(rate, 1000, always);
        client.wait(2 * RTT_MS);
        const { limit } = client;
        client.wait(idleMs);
        expect(client.limit).toBeLessThanOrEqual(limit);
        let burst = 0;
        while (client.throttle.trySend()) burst++;
        expect(burst).toBeLessThanOrEqual(Math.max(2, 1 + 0.021 * limit * 2));
      },
    ),
    { numRuns: 20 },
  );
});

test("a limit that is not used does not grow", () => {
  const client = new Client();
  client.offer(5000, 1000, never);
  firstLimit(client, 5000, always);
  client.offer(100, 5000, never);
  const { limit } = client;
  client.offer(100, 60_000, never);
  expect(client.limit).toBe(limit);
});

test("a limit grows to twice what was sent at most", () => {
  const client = new Client();
  client.offer(5000, 1000, never);
  client.offer(5000, 2000, always);
  let before = client.limit;
  let sentMax = 0;
  for (let i = 0; i < 200 && client.limit < Infinity; i++) {
    sentMax = Math.max(sentMax, 10 * client.offer(5000, 100, never));
    const { limit } = client;
    if (limit > before && limit < Infinity) {
      // Whole requests in a tenth of a second: a rate of few is not measured better.
      expect(limit).toBeLessThanOrEqual(2 * (sentMax + 20));
    }
    before = limit;
  }
  expect(client.limit).toBe(Infinity);
});

test("a process that was frozen for a day goes on where it was", () => {
  const client = new Client();
  client.offer(5000, 1000, never);
  client.offer(5000, 500, always);
  const { limit } = client;
  client.nowMs += 86_400_000;
  expect(client.limit).toBeLessThanOrEqual(limit);
  expect(client.limit).toBeGreaterThanOrEqual(limit / 2);
  client.offer(5000, 6000, never);
  expect(client.limit).toBe(Infinity);
});

test("a peer that stops to answer in the middle of a probe gets no more than before it", () => {
  const client = new Client();
  client.offer(5000, 1000, never);
  client.offer(5000, 500, always);
  client.wait(100);
  for (let i = 0; i < 1000 && client.throttle.state().move === "cut"; i++) {
    client.offer(5000, 10, never);
  }
  const { limit } = client;
  let sent = 0;
  for (let ms = 0; ms < 60_000; ms++) {
    client.nowMs++;
    while (client.throttle.trySend()) if (ms >= 10_000) sent++;
  }
  expect(client.limit).toBe(limit);
  expect(sent / 50 / limit).toBeLessThan(1.01);
});

test("a pause is exactly as long as the next request has to wait", () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 2000 }), (rate) => {
      const client = new Client();
      client.offer(rate, 2000, never);
      client.offer(rate, 2000, always);
      while (client.throttle.trySend());
      const pauseMs = client.throttle.pauseMs();
      expect(pauseMs).toBeGreaterThan(0);
      client.nowMs += pauseMs;
      expect(client.throttle.trySend()).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test.each([
  [500, 15],
  [10, 130],
])(
  "a limit of %d per second is used in full by a caller that comes every %d ms",
  (limit, everyMs) => {
    const client = new Client();
    client.offer(2 * limit, 2000, never);
    expect(firstLimit(client, 2 * limit, always)).toBeCloseTo(limit, -1);
    // Without answers the limit stays as it is.
    let sent = 0;
    const untilMs = client.nowMs + 20_000;
    for (; client.nowMs < untilMs; client.nowMs += everyMs)
      while (client.throttle.trySend()) sent++;
    expect(sent / 20 / client.limit).toBeCloseTo(1, 1);
  },
);

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
