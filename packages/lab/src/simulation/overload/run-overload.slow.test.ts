import { createBusyThrottle, SeededRandom } from "@sluice/core";
import type { BusyThrottle, Clock } from "@sluice/core";
import { describe, expect, test } from "vitest";
import { EvenService } from "../services/even-service.ts";
import type { BusyService } from "../services/even-service.ts";
import { phaseStats } from "./phase-stats.ts";
import { runOverload } from "./run-overload.ts";
import type { CapacityPhase, OverloadClient, OverloadSecond } from "./run-overload.ts";

const throttle = (clock: Clock): BusyThrottle => createBusyThrottle({ clock });

interface Trial {
  readonly capacity: readonly CapacityPhase[];
  readonly durationS: number;
  readonly clients?: readonly OverloadClient[];
  readonly service?: BusyService;
  readonly responseMs?: () => number;
  readonly seed?: number;
}

function play({
  capacity,
  durationS,
  clients = [{ offeredPerSecond: 5000 }],
  service = new EvenService(),
  responseMs = () => 50,
  seed = 1,
}: Trial): OverloadSecond[] {
  return runOverload(
    { clients, throttle, service, capacity, responseMs, durationS },
    new SeededRandom(seed),
  );
}

/** Twice the offered rate, then two fifths of it for `forS` seconds, then twice again. */
function dip(offeredPerSecond: number, fromS: number, forS: number): CapacityPhase[] {
  return [
    { fromS: 0, perSecond: 2 * offeredPerSecond },
    { fromS, perSecond: 0.4 * offeredPerSecond },
    { fromS: fromS + forS, perSecond: 2 * offeredPerSecond },
  ];
}

const total = (seconds: readonly OverloadSecond[], key: "ok" | "busy" | "sent"): number =>
  seconds.reduce((sum, second) => sum + second[key], 0);

const busyShare = (seconds: readonly OverloadSecond[]): number =>
  total(seconds, "busy") / total(seconds, "sent");

/**
 * Seconds after which at least 99 % of the offered requests are taken in every second to the end.
 */
const recoveredAfter = (seconds: readonly OverloadSecond[], fromS: number): number =>
  seconds.slice(fromS).findLastIndex(({ ok, offered }) => ok < 0.99 * offered) + 1;

test("a peer with two fifths of the offered capacity is used fully, answers busy rarely, and recovers within five seconds", () => {
  const seconds = play({ capacity: dip(5000, 60, 200), durationS: 280 });
  const last = seconds.slice(110, 260);
  expect(total(last, "ok") / (2000 * 150)).toBeGreaterThanOrEqual(0.97);
  expect(busyShare(last)).toBeLessThanOrEqual(0.01);
  expect(recoveredAfter(seconds, 260)).toBeLessThanOrEqual(5);
});

/** Least goodput ratio, largest busy share, and longest recovery in seconds. */
interface Demand {
  readonly goodput: number;
  readonly busy: number;
  readonly recoveredS: number;
}

const USUAL: Demand = { goodput: 0.97, busy: 0.01, recoveredS: 5 };

function expectDemand(seconds: readonly OverloadSecond[], demand: Demand, perSecond: number): void {
  const dipped = seconds.slice(30, 110);
  expect(total(dipped, "ok") / (perSecond * 80)).toBeGreaterThanOrEqual(demand.goodput);
  expect(busyShare(dipped)).toBeLessThanOrEqual(demand.busy);
  expect(recoveredAfter(seconds, 110)).toBeLessThanOrEqual(demand.recoveredS);
}

describe("the same holds at other capacities", () => {
  test.each<[number, Demand]>([
    // One request is a fifth of what it takes: a probe cannot be smaller.
    [5, { goodput: 0.93, busy: 0.05, recoveredS: 25 }],
    [20, { goodput: 0.92, busy: 0.015, recoveredS: 8 }],
    [100, USUAL],
    [1000, USUAL],
    [10_000, USUAL],
  ])("%d a second", (perSecond, demand) => {
    const offeredPerSecond = 2.5 * perSecond;
    const capacity = dip(offeredPerSecond, 10, 100);
    const seconds = play({ capacity, durationS: 140, clients: [{ offeredPerSecond }] });
    expectDemand(seconds, demand, perSecond);
  });
});

describe("the same holds at other response times", () => {
  const random = new SeededRandom(7);
  test.each<[string, () => number, Demand]>([
    ["1 ms", () => 1, USUAL],
    ["200 ms", () => 200, USUAL],
    // A step takes two round trips, and it takes about eight steps.
    ["500 ms", () => 500, { ...USUAL, recoveredS: 12 }],
    ["2 s", () => 2000, { ...USUAL, recoveredS: 30 }],
    ["1 to 100 ms at random", () => 1 + 99 * random.next(), USUAL],
    ["exponential, 50 ms", () => -50 * Math.log(1 - random.next()), USUAL],
  ])("%s", (_, responseMs, demand) => {
    const seconds = play({ capacity: dip(5000, 10, 100), durationS: 145, responseMs });
    expectDemand(seconds, demand, 2000);
  });
});

/** A sliding window that counts refused requests too: slightly too many, and all are refused. */
class CountingService implements BusyService {
  #cameAtMs: number[] = [];

  takes(nowMs: number, perSecond: number): boolean {
    this.#cameAtMs.push(nowMs);
    if (this.#cameAtMs.length > 200_000) this.#cameAtMs = this.#cameAtMs.slice(-100_000);
    const oldest = this.#cameAtMs.at(-1 - Math.floor(perSecond));
    return oldest === undefined || oldest <= nowMs - 1000;
  }
}

/** A fixed window: the first requests of each second of the clock are taken. */
class WindowService implements BusyService {
  #second = 0;
  #taken = 0;

  takes(nowMs: number, perSecond: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) this.#taken = 0;
    this.#second = second;
    return ++this.#taken <= perSecond;
  }
}

describe("peers that count by the second are used well too, and refuse little", () => {
  test.each([
    ["one that counts refused requests as well", new CountingService()],
    ["one that begins anew with each second", new WindowService()],
  ])("%s", (_, service) => {
    const seconds = play({ capacity: dip(5000, 10, 200), durationS: 260, service });
    const last = seconds.slice(60, 210);
    expect(total(last, "ok") / (2000 * 150)).toBeGreaterThanOrEqual(0.9);
    expect(busyShare(last)).toBeLessThanOrEqual(0.015);
    expect(recoveredAfter(seconds, 210)).toBeLessThanOrEqual(36);
  });
});

/** Requests throttled after a dip of `forS` seconds has ended, as a mean over ten seeds. */
function lostAfter(forS: number): number {
  // The phase of the throttle's probe cycle at the end of the dip is random.
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const lost = seeds.map((seed) => {
    const capacity = dip(2000, 5, forS);
    const clients = [{ offeredPerSecond: 2000 }];
    const seconds = play({ capacity, durationS: 5 + forS + 8, clients, seed });
    expect(recoveredAfter(seconds, 5 + forS)).toBeLessThanOrEqual(5);
    return seconds.slice(5 + forS).reduce((sum, { throttled }) => sum + throttled, 0);
  });
  return lost.reduce((sum, each) => sum + each, 0) / seeds.length;
}

test("recovery takes longer after a longer dip, yet never more than five seconds", () => {
  const lost = [2, 40, 150].map(lostAfter);
  expect(lost).toEqual(lost.toSorted((a, b) => a - b));
});

test("after an outage of any length traffic is whole again within seven seconds", () => {
  for (const forS of [1, 5, 60]) {
    const capacity = [
      { fromS: 0, perSecond: 10_000 },
      { fromS: 5, perSecond: 0 },
      { fromS: 5 + forS, perSecond: 10_000 },
    ];
    const seconds = play({ capacity, durationS: 20 + forS });
    expect(recoveredAfter(seconds, 5 + forS)).toBeLessThanOrEqual(7);
    // One request a second is always tried.
    const out = seconds.slice(5, 5 + forS);
    expect(Math.min(...out.map(({ sent }) => sent))).toBeGreaterThanOrEqual(1);
  }
});

test("a capacity that flaps is followed both ways", () => {
  const capacity = Array.from({ length: 12 }, (_, i) => ({
    fromS: 10 * i,
    perSecond: i % 2 === 0 ? 4000 : 2000,
  }));
  const seconds = play({ capacity, durationS: 120 });
  const ratios = phaseStats(seconds, capacity).map(({ goodputRatio }) => goodputRatio ?? 0);
  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(0.7);
  expect(total(seconds, "ok") / (3000 * 120)).toBeGreaterThanOrEqual(0.85);
  expect(busyShare(seconds)).toBeLessThanOrEqual(0.02);
});

const FOUR = Array.from({ length: 4 }, () => ({ offeredPerSecond: 1250 }));

test.each([1, 2, 3])("four clients share what there is fairly, seed %d", (seed) => {
  const capacity = dip(5000, 10, 120);
  const seconds = play({ capacity, durationS: 150, clients: FOUR, seed });
  const [, dipped] = phaseStats(seconds, capacity);
  expect(dipped?.jain).toBeGreaterThanOrEqual(0.95);
  expect(dipped?.goodputRatio).toBeGreaterThanOrEqual(0.97);
  expect(busyShare(seconds.slice(20, 130))).toBeLessThanOrEqual(0.01);
});

test("a client that comes late gets its share", () => {
  const clients = [...FOUR.slice(1), { offeredPerSecond: 1250, fromS: 20 }];
  const seconds = play({ capacity: [{ fromS: 0, perSecond: 2000 }], durationS: 260, clients });
  const late = seconds.slice(200).map(({ okByClient }) => okByClient[3] ?? 0);
  const mean = late.reduce((sum, ok) => sum + ok, 0) / late.length;
  expect(mean).toBeGreaterThan(300);
});

test("the same seed gives the same run", () => {
  const trial = { capacity: dip(500, 5, 10), durationS: 20, clients: FOUR };
  expect(play(trial)).toEqual(play(trial));
});
