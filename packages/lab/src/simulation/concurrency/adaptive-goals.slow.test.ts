import { FixedLimit, SeededRandom, SluiceLimit } from "@sluice/core";
import type { LimitAlgorithm, Random } from "@sluice/core";
import { describe, expect, test } from "vitest";
import type { EventLoop } from "../engine/event-loop.ts";
import { jainIndex } from "../fairness.ts";
import { FaultyService } from "../services/faulty-service.ts";
import type { Faults } from "../services/faulty-service.ts";
import { LoadedService } from "../services/loaded-service.ts";
import type { LoadResponse } from "../services/loaded-service.ts";
import { runConcurrency } from "./run-concurrency.ts";
import type { SimulationResult } from "./run-concurrency.ts";

const NONE: LoadResponse = { scale: 0, kneeStart: 0, kneeExp: 0, limit: 0, action: "defer" };

interface Case {
  readonly seed: number;
  readonly concurrency?: Partial<LoadResponse>;
  readonly faults?: Partial<Faults>;
  readonly clients?: number;
  readonly durationS: number;
  readonly createAlgorithm?: (random: Random) => LimitAlgorithm;
  readonly onArrive?: (nowMs: number) => void;
}

/** Clients that want all they can get from a service of 100 ms. */
function run(options: Case): SimulationResult {
  const { seed, concurrency, faults, clients = 1, durationS, onArrive } = options;
  const createService = (loop: EventLoop, random: Random): FaultyService => {
    const inner = new LoadedService(loop, new SeededRandom(random.next() * 2 ** 32), {
      delayMs: 100,
      jitter: 0.05,
      concurrency: { ...NONE, ...concurrency },
      rate: NONE,
      rejectMs: undefined,
    });
    const service = new FaultyService(loop, new SeededRandom(random.next() * 2 ** 32), inner, {
      lossRatio: 0,
      down: [],
      refuseMs: undefined,
      ...faults,
    });
    const arrive = service.arrive.bind(service);
    service.arrive = (answer) => {
      onArrive?.(loop.now());
      arrive(answer);
    };
    return service;
  };
  return runConcurrency({
    seed,
    timerQuantumMs: 0,
    createService,
    createAlgorithm: options.createAlgorithm ?? ((random) => new SluiceLimit({ random })),
    load: { clients, joinEveryS: 5, intervalMs: 0, requests: undefined, durationS },
    retry: {
      layering: "per-attempt",
      timeoutMs: 1000,
      backoffMs: [1000, 2000, 3000],
      backoffJitter: "full",
    },
  });
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

describe("an adaptive limit", () => {
  test.each([1, 100, undefined])(
    "gets 0.85 of the goodput of a link that loses one attempt in twenty at random, with an answer after %s ms",
    (refuseMs) => {
      const goodputs = [101, 102, 103].map((seed) => {
        const faults = { lossRatio: 0.05, refuseMs };
        const best = run({
          seed,
          faults,
          durationS: 30,
          createAlgorithm: () => new FixedLimit(200),
        });
        return run({ seed, faults, durationS: 30 }).roundTrips.count / best.roundTrips.count;
      });
      expect(medianOf(goodputs)).toBeGreaterThan(0.85);
      expect(Math.min(...goodputs)).toBeGreaterThan(0.5);
    },
  );

  test("four clients share a service that silently drops what is above its limit", () => {
    const indices = [101, 102, 103].map((seed) => {
      const { endsMs, endedBy } = run({
        seed,
        clients: 4,
        concurrency: { limit: 50, action: "drop" },
        durationS: 80,
      });
      const served = [0, 0, 0, 0];
      for (const [i, client] of endedBy.entries())
        if ((endsMs[i] ?? 0) > 25_000) served[client] = (served[client] ?? 0) + 1;
      return jainIndex(served);
    });
    expect(medianOf(indices)).toBeGreaterThan(0.8);
  });

  test.each([
    { lengthS: 0.5, how: "refused all", refuseMs: 1 },
    { lengthS: 2, how: "refused all", refuseMs: 1 },
    { lengthS: 7.7, how: "refused all", refuseMs: 1 },
    { lengthS: 0.5, how: "answered nothing", refuseMs: undefined },
    { lengthS: 2, how: "answered nothing", refuseMs: undefined },
    { lengthS: 7.7, how: "answered nothing", refuseMs: undefined },
  ])(
    "sends within 100 ms of the return of a service that $how for $lengthS s",
    ({ lengthS, refuseMs }) => {
      for (const seed of [101, 102, 103]) {
        const backAtMs = (5 + lengthS) * 1000;
        let firstMs = Infinity;
        run({
          seed,
          concurrency: { limit: 50 },
          faults: { down: [{ fromS: 5, untilS: 5 + lengthS }], refuseMs },
          durationS: 8 + lengthS,
          onArrive: (nowMs) => {
            if (nowMs >= backAtMs) firstMs = Math.min(firstMs, nowMs);
          },
        });
        expect(firstMs - backAtMs).toBeLessThanOrEqual(101);
      }
    },
  );
});
