import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGates } from "./gates.ts";
import type { GatesOptions } from "./gates.ts";
import type { GateOptions } from "./options/gate-options.ts";

function setUp(options: Omit<GatesOptions, "gate"> & { gate?: GateOptions } = {}) {
  const timer = new VirtualTimer();
  const gates = createGates({ ...options, gate: { ...options.gate, runtime: { timer } } });
  return { timer, gates };
}

test("a key keeps its gate, and others have their own", () => {
  const { gates } = setUp({ gate: { name: "api", concurrency: 1 } });
  const a = gates.for("a");
  expect(gates.for("a")).toBe(a);
  expect(a.name).toBe("api:a");
  void a.run(() => new Promise(() => undefined));
  expect(gates.for("b").inFlight).toBe(0);
});

test("a key may have settings of its own", () => {
  const gates = createGates({ gate: (key) => ({ concurrency: key === "slow" ? 1 : 50 }) });
  expect(gates.for("slow").limit).toBe(1);
  expect(gates.for("fast").limit).toBe(50);
});

test("idle gates are forgotten as new ones come", async () => {
  const { gates, timer } = setUp({ idleMs: 1000 });
  for (let i = 0; i < 50; i++) gates.for(`old ${i}`);
  await timer.advance(1000);
  for (let i = 0; i < 50; i++) gates.for(`new ${i}`);
  expect([...gates.entries()].filter(([key]) => key.startsWith("old"))).toEqual([]);
  expect(gates.size).toBe(50);
});

test("at the bound the one idle longest goes, and never one in use", async () => {
  const { gates, timer } = setUp({ maxKeys: 3 });
  void gates.for("busy").run(() => new Promise(() => undefined));
  for (const key of ["older", "newer"]) {
    await timer.advance(10);
    gates.for(key);
  }
  gates.for("next");
  expect([...gates.entries()].map(([key]) => key)).toEqual(["busy", "newer", "next"]);
});

test("a gate that owes tokens or is paused is not forgotten, since that would forgive it", async () => {
  const { gates, timer } = setUp({ maxKeys: 2, gate: { rate: "1/s" } });
  await gates.for("spent").run(() => 1);
  gates.for("paused").pause(60_000);
  const shared = gates.for("third");
  expect(shared.name).toBe("overflow");
  expect(gates.for("fourth")).toBe(shared);
  expect(gates.size).toBe(2);
  await timer.advance(1000);
  expect(gates.for("third").name).toBe("third");
  expect([...gates.entries()].map(([key]) => key)).toEqual(["paused", "third"]);
});

test("a flood of keys makes no more gates than the bound", () => {
  const { gates } = setUp({ maxKeys: 10, gate: { concurrency: 1 } });
  for (let i = 0; i < 1000; i++) void gates.for(`key ${i}`).run(() => new Promise(() => undefined));
  expect(gates.size).toBe(10);
  expect(gates.for("one more").waiting).toBeGreaterThan(900);
});

test("close closes them all, and those that come", async () => {
  const { gates, timer } = setUp({ gate: { concurrency: 1 } });
  void gates.for("a").run(() => new Promise(() => undefined));
  const waiting = gates.for("a").run(() => 1, { deadlineMs: 1000 });
  gates.close();
  await expect(waiting).rejects.toMatchObject({ code: "CLOSED" });
  await expect(gates.for("b").run(() => 1)).rejects.toMatchObject({ code: "CLOSED" });
  await timer.advance(0);
  expect(timer.sleeping).toBe(0);
});

test("a gate on a rate of the caller's own is forgotten, since that rate goes on", async () => {
  const { gates, timer } = setUp({
    maxKeys: 1,
    gate: { rate: { reason: "fleet-share", tryTake: () => true, pauseMs: () => 0 } },
  });
  await gates.for("a").run(() => 1);
  await timer.advance(10);
  expect(gates.for("b").name).toBe("b");
});

test("gates with times of their own are judged by those", async () => {
  const timers = new Map(["a", "b", "c"].map((key) => [key, new VirtualTimer()]));
  const gates = createGates({
    maxKeys: 3,
    gate: (key) => ({ runtime: { timer: timers.get(key) ?? new VirtualTimer() } }),
  });
  for (const key of timers.keys()) await gates.for(key).run(() => 1);
  await timers.get("b")?.advance(1000);
  gates.for("d");
  expect([...gates.entries()].map(([key]) => key)).toEqual(["a", "c", "d"]);
});

test("while none is idle, the gates are not all looked at for every newcomer", async () => {
  const { gates, timer } = setUp({ maxKeys: 100 });
  for (let i = 0; i < 100; i++) void gates.for(`${i}`).run(() => new Promise(() => undefined));
  let looks = 0;
  for (const [, gate] of gates.entries()) {
    const idleMs = gate.idleMs.bind(gate);
    gate.idleMs = (nowMs) => {
      looks++;
      return idleMs(nowMs);
    };
  }
  for (let i = 0; i < 1000; i++) expect(gates.for(`new ${i}`).name).toBe("overflow");
  expect(looks).toBeLessThan(100 + 3 * 1000);
  looks = 0;
  await timer.advance(10);
  gates.for("later");
  expect(looks).toBeGreaterThanOrEqual(100);
});

test("an option that is misspelt is refused", () => {
  expect(() => createGates({ maxKey: 1 } as never)).toThrow(/no option "maxKey"/);
});

test.each([{ maxKeys: 0 }, { idleMs: -1 }, { gate: { concurrency: 0 } }])(
  "refuses %j at once",
  (options) => {
    expect(() => createGates(options)).toThrow(/must be/);
  },
);

test("a gate with calls that wait to be tried again is in use", async () => {
  const { gates, timer } = setUp({
    maxKeys: 1,
    gate: {
      retry: { attempts: 2 },
      classify: () => ({ outcome: "busy", retriable: "safe", scope: "overloaded" }),
    },
  });
  const parked = gates.for("a").run(() => "answer");
  await timer.advance(0);
  expect(gates.for("a").parked).toBe(1);
  expect(gates.for("b").name).toBe("overflow");
  await timer.advance(60_000);
  expect(await parked).toBe("answer");
});

test("a flood of keys looks at few gates for each that comes", async () => {
  const { gates, timer } = setUp({ maxKeys: 1000 });
  let looks = 0;
  const visit = (key: string): void => {
    const gate = gates.for(key);
    const idleMs = gate.idleMs.bind(gate);
    gate.idleMs = (nowMs) => {
      looks++;
      return idleMs(nowMs);
    };
  };
  for (let i = 0; i < 1000; i++) visit(`${i}`);
  await timer.advance(1);
  looks = 0;
  for (let i = 1000; i < 2000; i++) visit(`${i}`);
  expect(gates.size).toBe(1000);
  expect(looks).toBeLessThanOrEqual(20 * 1000);
});
