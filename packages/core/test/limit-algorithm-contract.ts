import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LimitAlgorithm, LimitDecision } from "../src/concurrency/algorithm.ts";
import type { Outcome } from "../src/concurrency/outcome.ts";
import { SeededRandom } from "../src/random.ts";
import { ClosedLoop } from "./closed-loop.ts";

/** An algorithm and its bounds. */
export interface LimitContract {
  readonly create: () => LimitAlgorithm;
  readonly maxLimit: number;
  readonly pauseMaxMs: number;
}

const HOUR_MS = 3_600_000;
/** Relative error of a difference of instants. */
const ROUNDING = 1 + 1e-9;
/** Ends of a long run, and the bytes that it may leave: half of 8 bytes for each end. */
const LONG_RUN = 40_000;
const LEAK_MAX_BYTES = 160_000;

const outcome = fc.constantFrom<Outcome>("ok", "ok", "busy", "failed", "ignored");

/** Anything that can happen, in any order, sensible or not. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant("start" as const),
    weight: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 500 })),
  }),
  fc.record({ kind: fc.constant("end" as const), which: fc.nat(), outcome }),
  fc.constant({ kind: "blocked" as const }),
  fc.record({
    kind: fc.constant("wait" as const),
    ms: fc.oneof(
      fc.constant(0),
      fc.nat(300),
      fc.double({ min: 0, max: 10, noNaN: true }),
      fc.nat(24 * HOUR_MS),
    ),
  }),
);

/** A stretch of time in which a peer behaves in one way, long enough for an algorithm to settle. */
const stretch = fc.record({
  attempts: fc.nat(400),
  /** In flight ÷ limit; above 1 the limit is exceeded by force. */
  load: fc.constantFrom(0.3, 1, 1, 1, 1.4, 3),
  rttMs: fc.constantFrom(0, 0.25, 40, 1000, HOUR_MS),
  jitter: fc.constantFrom(0, 0.05, 1, 20),
  /** Relative slowdown for each unit in flight. */
  slope: fc.constantFrom(0, 0, 0.1),
  lostShare: fc.constantFrom(0, 0, 0.01, 0.3, 1),
  lostAbove: fc.constantFrom(3, 20, 1000),
  ignoredShare: fc.constantFrom(0, 0, 0.05, 0.8),
  weightMax: fc.constantFrom(1, 1, 1, 7, 100),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Stretch = typeof stretch extends fc.Arbitrary<infer T> ? T : never;

interface Started {
  readonly startedAtMs: number;
  readonly inFlightAtStart: number;
  readonly weight: number;
}

/** Reports to an algorithm as a limiter would, and notes the first broken promise. */
class Watched {
  problem: string | undefined;
  readonly trace: (LimitDecision | undefined)[] = [];
  nowMs = 0;
  inFlight = 0;
  readonly #contract: LimitContract;
  readonly #algorithm: LimitAlgorithm;

  readonly #questions: number;

  /** `questions`: how often limit and pause are asked for after each step. */
  constructor(contract: LimitContract, questions = 1) {
    this.#questions = questions;
    this.#contract = contract;
    this.#algorithm = contract.create();
    this.#check();
  }

  get limit(): number {
    return this.#algorithm.limit;
  }

  wait(ms: number): void {
    this.nowMs += ms;
    this.#check();
  }

  blocked(): void {
    this.#algorithm.onBlocked?.(this.nowMs);
    this.#check();
  }

  start(weight: number): Started {
    this.inFlight += weight;
    this.#algorithm.onStart(this.nowMs, this.inFlight, weight);
    this.#check();
    return { startedAtMs: this.nowMs, inFlightAtStart: this.inFlight, weight };
  }

  end({ startedAtMs, inFlightAtStart, weight }: Started, how: Outcome): void {
    this.inFlight -= weight;
    const limitBefore = this.#algorithm.limit;
    const decision = this.#algorithm.onEnd({
      startedAtMs,
      endedAtMs: this.nowMs,
      outcome: how,
      weight,
      inFlightAtStart,
      inFlight: this.inFlight,
    });
    this.trace.push(decision);
    this.#check();
    if (decision === undefined) return;
    if (decision.limitBefore !== limitBefore || decision.limit !== this.#algorithm.limit)
      this.problem ??= `${limitBefore} to ${this.limit} is told as ${JSON.stringify(decision)}`;
    const { rttMs = 0, startsPerSecond = 1 } = decision;
    if (!(rttMs >= 0 && rttMs < Infinity) || !(startsPerSecond > 0))
      this.problem ??= `a decision rests on ${rttMs} ms and ${startsPerSecond} a second`;
  }

  #check(): void {
    for (let left = this.#questions; left > 0; left--) this.#ask();
  }

  #ask(): void {
    const { maxLimit, pauseMaxMs } = this.#contract;
    const { limit } = this.#algorithm;
    if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
      this.problem ??= `the limit is ${limit}`;
    const pauseMs = this.#algorithm.pauseMs(this.nowMs);
    if (!(pauseMs >= 0 && pauseMs <= ROUNDING * pauseMaxMs))
      this.problem ??= `the pause is ${pauseMs} ms`;
  }
}

function follow(contract: LimitContract, steps: readonly Step[], questions = 1): Watched {
  const watched = new Watched(contract, questions);
  const under: Started[] = [];
  for (const each of steps) {
    if (each.kind === "wait") watched.wait(each.ms);
    else if (each.kind === "blocked") watched.blocked();
    else if (each.kind === "start") under.push(watched.start(each.weight));
    else {
      const [ended] = under.splice(each.which % Math.max(1, under.length), 1);
      if (ended !== undefined) watched.end(ended, each.outcome);
    }
  }
  return watched;
}

/** Keeps about `load × limit` in flight, and ends the first attempt that is due. */
function live(watched: Watched, stretches: readonly Stretch[], seed: number): void {
  const random = new SeededRandom(seed);
  const under: (Started & { readonly dueAtMs: number; readonly how: Outcome })[] = [];
  for (const each of stretches) {
    for (let left = each.attempts; left > 0; left--) {
      const target = Math.min(2000, each.load * watched.limit);
      while (watched.inFlight === 0 || watched.inFlight < target) {
        const started = watched.start(1 + Math.floor(random.next() * each.weightMax));
        const noise = 1 - each.jitter * Math.log(1 - random.next());
        const slower = 1 + each.slope * started.inFlightAtStart;
        const dueAtMs = watched.nowMs + each.rttMs * noise * slower;
        under.push({ ...started, dueAtMs, how: outcomeOf(each, started, random) });
      }
      watched.blocked();
      under.sort((a, b) => a.dueAtMs - b.dueAtMs);
      const first = under.shift();
      if (first === undefined) continue;
      watched.wait(Math.max(0, first.dueAtMs - watched.nowMs));
      watched.end(first, first.how);
    }
  }
}

function outcomeOf(during: Stretch, started: Started, random: SeededRandom): Outcome {
  if (random.next() < during.ignoredShare) return "ignored";
  if (started.inFlightAtStart > during.lostAbove) return "busy";
  return random.next() < during.lostShare ? "failed" : "ok";
}

/** Bytes in use after garbage collection. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

/** Relative throughput in weight units, against attempts of weight 1, that a heavier load reaches. */
const WEIGHTED_MIN = 0.75;
const WEIGHTED_MS = 8000;

/** The limit that is found, and the weight that is served, at a peer without a limit. */
function runWeighted({ create }: LimitContract, weights: readonly number[]) {
  const random = new SeededRandom(1);
  const algorithm = create();
  const loop = new ClosedLoop(algorithm, () => ({ afterMs: 100, outcome: "ok" }));
  loop.weigh = () => weights[Math.floor(random.next() * weights.length)] ?? 1;
  loop.run(WEIGHTED_MS);
  return { limit: algorithm.limit, served: loop.served };
}

/** What `LimitAlgorithm` promises of every algorithm, whatever it decides. */
export function keepsLimitContract(name: string, contract: LimitContract): void {
  const { maxLimit, pauseMaxMs } = contract;
  const seed = fc.nat();

  describe(`${name} keeps the contract of a limit`, () => {
    test(`whole, from 1 to ${maxLimit}, no pause above ${pauseMaxMs} ms, whatever happens`, () => {
      const steps = fc.array(step, { maxLength: 300, size: "max" });
      fc.assert(
        fc.property(steps, (all) => {
          expect(follow(contract, all).problem).toBeUndefined();
        }),
        { numRuns: 100 },
      );
    });

    test("the same with peers that change how they behave", () => {
      const stretches = fc.array(stretch, { minLength: 1, maxLength: 8 });
      fc.assert(
        fc.property(stretches, seed, (all, drawn) => {
          const watched = new Watched(contract);
          live(watched, all, drawn);
          expect(watched.problem).toBeUndefined();
        }),
        { numRuns: 40 },
      );
    });

    test.each([[[2]], [[3]], [[5]], [[1, 2, 3, 5]], [[1, 8]]])(
      "with weights of %j it grows and serves as with weights of 1",
      (weights) => {
        const [light, heavy] = [runWeighted(contract, [1]), runWeighted(contract, weights)];
        expect(Math.min(light.limit, heavy.limit)).toBeGreaterThan(0.9 * maxLimit);
        expect(heavy.served).toBeGreaterThan(WEIGHTED_MIN * light.served);
      },
    );

    test("asking changes nothing: decisions are the same however often it is asked", () => {
      const steps = fc.array(step, { maxLength: 300, size: "max" });
      const stretches = fc.array(stretch, { minLength: 1, maxLength: 4 });
      fc.assert(
        fc.property(steps, stretches, seed, fc.integer({ min: 1, max: 5 }), (...all) => {
          const [anything, sensible, drawn, questions] = all;
          const traces = [0, questions].map((asked) => {
            const watched = new Watched(contract, asked);
            live(watched, sensible, drawn);
            return [...follow(contract, anything, asked).trace, ...watched.trace];
          });
          expect(traces[1]).toEqual(traces[0]);
        }),
        { numRuns: 15 },
      );
    });

    test("the same events lead to the same decisions", () => {
      const stretches = fc.array(stretch, { minLength: 1, maxLength: 4 });
      fc.assert(
        fc.property(stretches, seed, (all, drawn) => {
          const [one, other] = [new Watched(contract), new Watched(contract)];
          for (const watched of [one, other]) live(watched, all, drawn);
          expect(other.trace).toEqual(one.trace);
        }),
        { numRuns: 10 },
      );
    });

    test("remembers no more after a long time than after a short one", () => {
      const algorithm = contract.create();
      const random = new SeededRandom(1);
      let nowMs = 0;
      const run = (ends: number): void => {
        for (let left = ends; left > 0; left--) {
          const startedAtMs = nowMs;
          const { limit } = algorithm;
          algorithm.onStart(startedAtMs, limit, 1);
          nowMs += 50 + 100 * random.next();
          const how = random.next() < 0.001 ? "busy" : "ok";
          const atStart = { startedAtMs, inFlightAtStart: limit, weight: 1 };
          algorithm.onEnd({ ...atStart, endedAtMs: nowMs, outcome: how, inFlight: limit - 1 });
        }
      };
      run(LONG_RUN / 10);
      const beforeBytes = heapBytes();
      run(LONG_RUN);
      expect(heapBytes() - beforeBytes).toBeLessThan(LEAK_MAX_BYTES);
    });
  });
}
