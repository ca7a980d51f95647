import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClosedLoop } from "../../../test/closed-loop.ts";
import type { Peer } from "../../../test/closed-loop.ts";
import type { EndedAttempt } from "../algorithm.ts";
import type { Outcome } from "../outcome.ts";
import { VectorLimit } from "./vector-limit.ts";

interface Settings {
  readonly initialLimit: number;
  readonly maxLimit: number;
  readonly decreaseRatio: number;
  readonly ewmaAlpha: number;
  readonly rttDeviationScale: number;
}

/** The same controller once more, as one plain procedure. */
class PlainVector {
  limit: number;
  readonly #settings: Settings;
  #past: { mean: number; variance: number } | undefined;
  #window = { count: 0, mean: 0 };
  #nextUpdateMs = 0;
  #reachedLimit = false;
  #hadBackPressure = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.limit = settings.initialLimit;
  }

  onStart(inFlight: number): void {
    if (inFlight >= this.limit) this.#reachedLimit = true;
  }

  /** Whether the limit was looked at. */
  onEnd({ startedAtMs, endedAtMs, outcome }: EndedAttempt): boolean {
    const { maxLimit, decreaseRatio, ewmaAlpha, rttDeviationScale } = this.#settings;
    if (outcome === "busy" || outcome === "failed") this.#hadBackPressure = true;
    const window = this.#window;
    if (outcome === "ok") {
      window.count++;
      window.mean += (endedAtMs - startedAtMs - window.mean) / window.count;
    }
    const past = this.#past;
    if (past === undefined) {
      if (window.count === 0) return false;
      this.#past = { mean: window.mean, variance: 0 };
      this.#nextUpdateMs = endedAtMs + window.mean;
      return false;
    }
    if (endedAtMs < this.#nextUpdateMs) return false;
    const threshold = rttDeviationScale * Math.sqrt(past.variance);
    const isEmpty = window.count === 0;
    const isFaster = !isEmpty && window.mean <= past.mean;
    const isSlower = (isEmpty ? 0 : window.mean) >= past.mean + threshold;
    if (this.limit < maxLimit && this.#reachedLimit && !this.#hadBackPressure && isFaster)
      this.limit += 1;
    else if (this.limit > 1 && (this.#hadBackPressure || isSlower))
      this.limit = Math.max(1, Math.floor(this.limit * decreaseRatio));
    if (!isEmpty) {
      const distance = window.mean - past.mean;
      past.mean += ewmaAlpha * distance;
      past.variance = (1 - ewmaAlpha) * (past.variance + ewmaAlpha * distance * distance);
    }
    this.#nextUpdateMs = endedAtMs + past.mean;
    this.#window = { count: 0, mean: 0 };
    this.#reachedLimit = false;
    this.#hadBackPressure = false;
    return true;
  }
}

test("decides as a plain second writing of the controller does, over any history", () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  const settings = fc.record({
    initialLimit: fc.integer({ min: 1, max: 30 }),
    maxLimit: fc.integer({ min: 30, max: 60 }),
    decreaseRatio: fc.oneof(fc.constant(0.9), part),
    ewmaAlpha: fc.oneof(fc.constant(0.4), part),
    rttDeviationScale: fc.constantFrom(2.5, 0, 1),
  });
  const attempt = fc.record({
    waitMs: fc.nat(120),
    // Few different ones, so that equal means are frequent.
    rttMs: fc.constantFrom(100, 100, 100, 90, 110, 0, 1000),
    inFlight: fc.integer({ min: 1, max: 70 }),
    outcome: fc.constantFrom<Outcome>("ok", "ok", "ok", "ok", "busy", "failed", "ignored"),
  });
  const history = fc.array(attempt, { maxLength: 300, size: "max" });
  fc.assert(
    fc.property(settings, history, (chosen, attempts) => {
      const limit = new VectorLimit(chosen);
      const plain = new PlainVector(chosen);
      const [seen, expected]: [unknown[], unknown[]] = [[], []];
      let endedAtMs = 0;
      for (const { waitMs, rttMs, inFlight, outcome } of attempts) {
        endedAtMs += waitMs;
        const startedAtMs = endedAtMs - rttMs;
        limit.onStart(startedAtMs, inFlight);
        plain.onStart(inFlight);
        const limitBefore = plain.limit;
        const ended = {
          startedAtMs,
          endedAtMs,
          outcome,
          weight: 1,
          inFlightAtStart: inFlight,
          inFlight,
        };
        const decision = limit.onEnd(ended);
        seen.push(decision?.limitBefore, decision?.limit, limit.limit);
        const hasDecided = plain.onEnd(ended);
        const told = hasDecided ? [limitBefore, plain.limit] : [undefined, undefined];
        expected.push(...told, plain.limit);
      }
      expect(seen).toEqual(expected);
    }),
  );
});

const serves =
  (afterMs: number): Peer =>
  () => ({ afterMs, outcome: "ok" });

/** One attempt at a time: what a decision made of a limit, one after the other. */
function limitsOf(limit: VectorLimit, outcomes: readonly Outcome[], inFlight = 1): number[] {
  let nowMs = 0;
  return outcomes.map((outcome) => {
    limit.onStart(nowMs, inFlight);
    const startedAtMs = nowMs;
    nowMs += 100;
    const ended = { startedAtMs, endedAtMs: nowMs, inFlightAtStart: inFlight, inFlight, weight: 1 };
    limit.onEnd({ ...ended, outcome });
    return limit.limit;
  });
}

describe("what it is known for", () => {
  test("sent slowly to a peer that always takes as long, it swings between 1 and 2", () => {
    const limits = limitsOf(new VectorLimit(), Array<Outcome>(8).fill("ok"));
    expect(limits).toEqual([1, 2, 1, 2, 1, 2, 1, 2]);
  });

  test("with nothing to slow it, it saws between its maximum and nine tenths of it", () => {
    const limit = new VectorLimit({ initialLimit: 200 });
    const loop = new ClosedLoop(limit, serves(100));
    loop.run(7000);
    const limits = loop.decisions.map((decision) => decision.limit);
    expect(Math.max(...limits)).toBe(200);
    expect(Math.min(...limits)).toBe(180);
    const falls = loop.decisions.filter(({ limit: after, limitBefore }) => after < limitBefore);
    expect(falls.map(({ limitBefore }) => limitBefore)).toEqual(falls.map(() => 200));
  });

  test("until something was served nothing adapts, and then the failures before count", () => {
    const limit = new VectorLimit({ initialLimit: 50 });
    const outcomes: Outcome[] = ["busy", "failed", "busy", "ok", "ok", "ok"];
    expect(limitsOf(limit, outcomes, 60)).toEqual([50, 50, 50, 50, 45, 46]);
  });

  test.each([
    { decreaseRatio: 0.9, limits: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1] },
    { decreaseRatio: 0.4, limits: [10, 4, 1, 1, 1] },
    { decreaseRatio: 0, limits: [10, 1, 1] },
  ])("leaves $decreaseRatio, rounded down, but never less than 1", ({ decreaseRatio, limits }) => {
    const limit = new VectorLimit({ initialLimit: 10, decreaseRatio });
    const outcomes = limits.map((_, index): Outcome => (index === 0 ? "ok" : "busy"));
    expect(limitsOf(limit, outcomes, 20)).toEqual(limits);
  });

  test("grows by one in a round trip", () => {
    const limit = new VectorLimit();
    const loop = new ClosedLoop(limit, serves(100));
    loop.run(3350);
    expect(limit.limit).toBe(33);
  });
});

test("says what it went by", () => {
  const limit = new VectorLimit({ initialLimit: 5 });
  const causes: (string | undefined)[] = [];
  const see = (inFlight: number, outcome: Outcome, rttMs: number): void => {
    const startedAtMs = causes.length * 1000;
    limit.onStart(startedAtMs, inFlight);
    const ended = { startedAtMs, endedAtMs: startedAtMs + rttMs, inFlightAtStart: inFlight };
    causes.push(limit.onEnd({ ...ended, outcome, inFlight, weight: 1 })?.cause);
  };
  see(5, "ok", 100);
  see(5, "ok", 90);
  see(2, "ok", 90);
  see(9, "failed", 90);
  see(9, "ok", 400);
  see(9, "ok", 230);
  see(1, "ignored", 10);
  expect(causes).toEqual([undefined, "room", "idle", "busy", "slower", "steady", "idle"]);
});

test.each([
  { maxLimit: 0 },
  { initialLimit: 0 },
  { initialLimit: 201 },
  { initialLimit: 1.5 },
  { decreaseRatio: 1.1 },
  { ewmaAlpha: 2 },
  { rttDeviationScale: -1 },
])("refuses %j", (options) => {
  expect(() => new VectorLimit(options)).toThrow(/must be/);
});
