import * as fc from "fast-check";
import { expect, test } from "vitest";
import { KeepAlive } from "./keep-alive.ts";

const OPTIONS = { intervalMs: 30, silenceMaxMs: 60 };

/** Runs it, woken whenever it asks to be, until it gives up or the time is over. */
function run(
  heardAtMs: readonly number[],
  untilMs: number,
): { pings: number[]; lostAtMs?: number } {
  const keepAlive = new KeepAlive(OPTIONS, 0);
  const heard = [...heardAtMs].toSorted((a, b) => a - b);
  const pings: number[] = [];
  for (;;) {
    const dueAtMs = keepAlive.dueAtMs;
    const nextHeard = heard[0] ?? Infinity;
    const nowMs = Math.min(dueAtMs, nextHeard);
    if (nowMs > untilMs) return { pings };
    if (nextHeard <= dueAtMs) {
      heard.shift();
      keepAlive.onHeard(nowMs);
      continue;
    }
    const sign = keepAlive.onDue(nowMs);
    if (sign === "ping") pings.push(nowMs);
    if (sign === "lost") return { pings, lostAtMs: nowMs };
  }
}

test("a silent peer gets one PING and is given up after silenceMaxMs", () => {
  expect(run([], 1_000)).toEqual({ pings: [30], lostAtMs: 60 });
});

test("a peer is given up exactly at the end of silenceMaxMs", () => {
  expect(run([41], 1_000)).toEqual({ pings: [30, 60, 90], lostAtMs: 101 });
});

test("a peer that was heard within the last half of silenceMaxMs is kept", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), (heardAtMs) => {
      const { lostAtMs = Infinity } = run(heardAtMs, 1_000);
      const last = Math.max(0, ...heardAtMs.filter((atMs) => atMs <= lostAtMs));
      expect(lostAtMs - last).toBeGreaterThanOrEqual(60);
    }),
  );
});

test("a process that was stopped for long sends PING before it gives its peer up", () => {
  const keepAlive = new KeepAlive(OPTIONS, 0);
  expect(keepAlive.onDue(500)).toBe("ping");
  expect(keepAlive.onDue(520)).toBe("wait");
  keepAlive.onHeard(521);
  expect(keepAlive.onDue(530)).toBe("ping");
});
