import { FixedLimit, SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { FaultyService, LoadedService } from "@sluice/lab/sim";
import type { EventLoop, Faults, LoadResponse, Service } from "@sluice/lab/sim";
import { atLeast, atMost } from "./goals.ts";
import type { Judged } from "./goals.ts";
import { measure } from "./measure.ts";
import type { Contender, Measures } from "./measure.ts";
import type { Workload } from "./workloads.ts";

const NONE: LoadResponse = { scale: 0, kneeStart: 0, kneeExp: 0, limit: 0, action: "defer" };
const DOWN_FROM_S = 20;
const DOWN_S = [0.5, 2, 3.3, 10];
const FIXED_LIMITS = [10, 20, 50, 80, 100, 150, 200];
const SLOWDOWNS = [0.01, 0.05, 0.1];

/** A service of 100 ms with faults; `onArrive` is called for every attempt that reaches it. */
function faulty(
  concurrency: Partial<LoadResponse>,
  faults: Partial<Faults> = {},
  onArrive?: (nowMs: number) => void,
): Workload["createService"] {
  return (loop: EventLoop, random: Random): Service => {
    const inner = new LoadedService(loop, new SeededRandom(random.next() * 2 ** 32), {
      delayMs: 100,
      jitter: 0.05,
      concurrency: { ...NONE, ...concurrency },
      rate: NONE,
      rejectMs: undefined,
    });
    const all = { lossRatio: 0, down: [], refuseMs: undefined, ...faults };
    const service = new FaultyService(loop, new SeededRandom(random.next() * 2 ** 32), inner, all);
    return {
      seen: service.seen,
      arrive: (answer) => {
        onArrive?.(loop.now());
        service.arrive(answer);
      },
    };
  };
}

function workload(
  createService: Workload["createService"],
  change: Partial<Workload> = {},
): Workload {
  return {
    name: "trial",
    what: "",
    durationS: 60,
    warmUpS: 10,
    clients: 1,
    joinEveryS: 0,
    stepsS: [],
    pacesPerSecond: [],
    createService,
    ...change,
  };
}

/** The goals beyond the twelve workloads: faults, silent limits and services that slow down. */
export function judgeTrials(ours: Contender, seeds: readonly number[]): readonly Judged[] {
  const bySeed = (figure: (seed: number) => number): readonly number[] => seeds.map(figure);
  const ourRun = (each: Workload, seed: number): Measures => measure(each, ours, seed);
  const lossy = [
    { how: "answered in 100 ms", refuseMs: 100 },
    { how: "answered in 1 ms", refuseMs: 1 },
    { how: "never answered", refuseMs: undefined },
  ].map(({ how, refuseMs }) => {
    const each = workload(faulty({}, { lossRatio: 0.05, refuseMs }));
    return atLeast(
      0.9,
      `G, free link, 5 % lost at random, ${how}`,
      bySeed((seed) => ourRun(each, seed).goodputPerSecond / fixedAt(200, each, seed)),
    );
  });
  const silent = { durationS: 80, warmUpS: 25, clients: 4 };
  const drop = faulty({ limit: 50, action: "drop" });
  const shares = [5, 0].map((joinEveryS) =>
    atLeast(
      0.9,
      `J, four clients, silent drop above 50, ${joinEveryS === 0 ? "at once" : "one every 5 s"}`,
      bySeed((seed) => ourRun(workload(drop, { ...silent, joinEveryS }), seed).jain),
    ),
  );
  const linear = SLOWDOWNS.map((scale) => {
    const each = workload(faulty({ scale }));
    return atLeast(
      0.7,
      `G, slower by ${100 * scale} % with each attempt`,
      bySeed((seed) => ourRun(each, seed).goodputPerSecond / bestFixed(each, seed)),
    );
  });
  const restarts = [
    { how: "refused in 1 ms", refuseMs: 1 },
    { how: "never answered", refuseMs: undefined },
  ].map(({ how, refuseMs }) =>
    atMost(
      100,
      `ms until the first attempt after a restart, ${how}, the worst`,
      bySeed((seed) => Math.max(...DOWN_S.map((downS) => noticedMs(downS, refuseMs, ours, seed)))),
    ),
  );
  return [...lossy, ...shares, ...linear, ...restarts];
}

/** More in flight is not always better: beyond a point a service that slows down exceeds the timeout. */
function bestFixed(each: Workload, seed: number): number {
  return Math.max(...FIXED_LIMITS.map((limit) => fixedAt(limit, each, seed)));
}

function fixedAt(limit: number, each: Workload, seed: number): number {
  const create = (): FixedLimit => new FixedLimit(limit);
  return measure(each, { name: "fixed", layering: "per-attempt", create }, seed).goodputPerSecond;
}

/** Time from the return of a service that was down to the first attempt that reaches it. */
function noticedMs(
  downS: number,
  refuseMs: number | undefined,
  ours: Contender,
  seed: number,
): number {
  const backAtMs = (DOWN_FROM_S + downS) * 1000;
  let firstMs = Infinity;
  const down = [{ fromS: DOWN_FROM_S, untilS: DOWN_FROM_S + downS }];
  const service = faulty({ limit: 50 }, { down, refuseMs }, (nowMs) => {
    if (nowMs >= backAtMs) firstMs = Math.min(firstMs, nowMs);
  });
  measure(workload(service, { durationS: DOWN_FROM_S + downS + 5 }), ours, seed);
  return firstMs - backAtMs;
}
