import fc from "fast-check";
import { expect, test } from "vitest";
import { PARTS } from "../ledger/parts.ts";
import { DemandMeter, wantedParts } from "./demand-meter.ts";

const IDLE = PARTS / 1000;
const SYNC_MS = 500;

test.each([
  ["a quarter more than its calls ask for", { perSecond: 200, short: "no" }, PARTS / 4],
  ["four times as much if calls were short once", { perSecond: 50, short: "once" }, PARTS / 5],
  ["a tenth at least if calls were short once", { perSecond: 1, short: "once" }, PARTS / 10],
  ["everything if calls were short again", { perSecond: 20, short: "again" }, PARTS],
  ["everything if waiting calls brought no new ones", { perSecond: 0, short: "once" }, PARTS],
  ["never more than everything", { perSecond: 900, short: "no" }, PARTS],
  ["a thousandth without calls", { perSecond: 0, short: "no" }, IDLE],
  ["a thousandth at least", { perSecond: 0.1, short: "no" }, IDLE],
] as const)("a member wants %s", (_, demand, wanted) => {
  expect(wantedParts({ ...demand, ceiling: 1000 })).toBe(wanted);
});

test("before the first call has shown a ceiling, a member wants a thousandth, or everything if calls wait", () => {
  expect(wantedParts({ perSecond: 5, ceiling: 0, short: "no" })).toBe(IDLE);
  expect(wantedParts({ perSecond: 5, ceiling: 0, short: "once" })).toBe(PARTS);
});

test("more demand is never answered by wanting less", () => {
  const perSecond = fc.double({ min: 0, max: 1e6, noNaN: true });
  const short = fc.constantFrom("no" as const, "once" as const, "again" as const);
  fc.assert(
    fc.property(perSecond, perSecond, short, fc.integer({ min: 1, max: 1e6 }), (a, b, s, max) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)];
      fc.pre(less > 0);
      const wants = (rate: number) => wantedParts({ perSecond: rate, ceiling: max, short: s });
      expect(wants(more)).toBeGreaterThanOrEqual(wants(less));
      expect(wants(less)).toBeGreaterThanOrEqual(IDLE);
      expect(wants(more)).toBeLessThanOrEqual(PARTS);
    }),
  );
});

test("what a new member wants is not known for its first lease unless its calls are short, and then what they asked for", () => {
  const meter = new DemandMeter(1000, 2000);
  const wanted: (number | undefined)[] = [];
  for (let nowMs = 1000 + SYNC_MS; nowMs <= 4000; nowMs += SYNC_MS) {
    meter.onRequested(100);
    wanted.push(meter.read(nowMs, 1000, nowMs === 1000 + SYNC_MS));
  }
  expect(wanted).toEqual([PARTS, undefined, undefined, PARTS / 4, PARTS / 4, PARTS / 4]);
});

test("a member that stops calling keeps half of what it wanted from sync to sync, and is idle within 5 s", () => {
  const meter = new DemandMeter(0, 0);
  meter.onRequested(400);
  const wanted = Array.from({ length: 12 }, (_, i) => meter.read((i + 1) * SYNC_MS, 1000, false));
  expect(wanted.slice(0, 3)).toEqual([PARTS, PARTS / 2, PARTS / 4]);
  expect(wanted[10]).toBe(IDLE);
});

test("tokens that were deposited were not wanted, and neither were those missing beside them", () => {
  const meter = new DemandMeter(0, 0);
  meter.onRequested(100);
  meter.onShort();
  meter.onDeposited(100);
  expect(meter.read(SYNC_MS, 1000, false)).toBe(IDLE);
});

/** Four members with an equal claim each; a member may also use what the others do not want. */
function divide(wanted: readonly number[]): number[] {
  const equal = PARTS / wanted.length;
  const lent = wanted.reduce((total, want) => total + Math.max(0, equal - want), 0);
  const extra = wanted.reduce((total, want) => total + Math.max(0, want - equal), 0);
  const part = extra === 0 ? 0 : Math.min(1, lent / extra);
  return wanted.map((want) => Math.min(want, equal) + Math.max(0, want - equal) * part);
}

/** Callers that ask again as soon as they are served, for `perSecond` tokens at most. */
function runSync(meters: readonly DemandMeter[], load: readonly number[], run: Run): void {
  run.nowMs += SYNC_MS;
  const wanted = meters.map((meter, i) => {
    const usable = ((run.shares[i] ?? 0) / PARTS) * run.ceiling;
    const perSecond = Math.min(load[i] ?? 0, usable);
    meter.onRequested((perSecond * SYNC_MS) / 1000);
    return meter.read(run.nowMs, run.ceiling, (load[i] ?? 0) > usable) ?? PARTS / meters.length;
  });
  run.shares = divide(wanted);
}

interface Run {
  nowMs: number;
  shares: number[];
  readonly ceiling: number;
}

test("one busy member of four has nearly the whole ceiling, and one that becomes busy its fair share within three syncs", () => {
  const meters = Array.from({ length: 4 }, () => new DemandMeter(0));
  const run: Run = { nowMs: 0, shares: divide([PARTS, PARTS, PARTS, PARTS]), ceiling: 1000 };
  while (run.nowMs < 5500) runSync(meters, [1e6, 0, 0, 0], run);
  expect((run.shares[0] ?? 0) / PARTS).toBeGreaterThan(0.99);
  for (let sync = 0; sync < 3; sync++) runSync(meters, [1e6, 1e6, 0, 0], run);
  expect((run.shares[1] ?? 0) / PARTS).toBeGreaterThan(0.49);
  expect((run.shares[0] ?? 0) / PARTS).toBeGreaterThan(0.49);
});
