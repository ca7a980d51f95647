import { ConfigError } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGate } from "../gate.ts";
import type { GateOptions } from "../options/gate-options.ts";
import { warnWhenLimited } from "./limited-warning.ts";
import type { LimitedWarning, LimitedWarningOptions } from "./limited-warning.ts";

/** Refused at once: the gate is paused. */
const askOnce = { wait: false };

function setUp(options: LimitedWarningOptions = {}) {
  const timer = new VirtualTimer();
  const messages: string[] = [];
  const warnings: LimitedWarning[] = [];
  const observers = warnWhenLimited((message, warning) => {
    messages.push(message);
    warnings.push(warning);
  }, options);
  const gateOf = (gate: GateOptions) => createGate({ ...gate, observers, runtime: { timer } });
  const refuseAt = (name: string): void => {
    const gate = gateOf({ name });
    gate.pause(1000);
    gate.tryAcquire(askOnce);
  };
  return { timer, messages, warnings, gateOf, refuseAt };
}

test("the first limited call warns at once, with the reason and the way out", () => {
  const { messages, warnings, gateOf } = setUp();
  const gate = gateOf({ name: "api", concurrency: 1 });
  gate.tryAcquire();
  expect(messages).toEqual([]);
  void gate.acquire();
  expect(warnings).toEqual([
    {
      gate: "api",
      decision: "held",
      reason: "concurrency",
      rate: undefined,
      limit: 1,
      waiting: 1,
      retryAfterMs: undefined,
      isShadow: false,
      suppressed: 0,
    },
  ]);
  expect(messages).toEqual([
    "request limited: a call of gate api waits, reason concurrency, limit 1, 1 waiting",
  ]);
});

test("a refusal names the rate and when to try again", () => {
  const { messages, warnings, gateOf } = setUp();
  const gate = gateOf({ name: "api", rates: { tokens: "1/s" } });
  gate.tryAcquire();
  gate.tryAcquire();
  expect(warnings[0]).toMatchObject({ decision: "refused", reason: "rate", rate: "tokens" });
  expect(messages).toEqual([
    "request limited: a call of gate api was refused, reason rate of rate tokens, 0 waiting, try again in 950 ms",
  ]);
});

test("within 5 s of a warning there is no other one, and the next one counts what was suppressed", async () => {
  const { timer, messages, warnings, gateOf } = setUp();
  const gate = gateOf({ name: "api" });
  gate.pause(60_000);
  const refuse = (times: number): void => {
    for (let i = 0; i < times; i++) gate.tryAcquire(askOnce);
  };
  refuse(10);
  await timer.advance(4999);
  refuse(5);
  expect(warnings.map(({ suppressed }) => suppressed)).toEqual([0]);
  await timer.advance(1);
  refuse(3);
  expect(warnings.map(({ suppressed }) => suppressed)).toEqual([0, 14]);
  expect(messages[1]).toMatch(/; 14 such warnings suppressed$/);
  await timer.advance(5000);
  refuse(1);
  expect(warnings.map(({ suppressed }) => suppressed)).toEqual([0, 14, 2]);
});

test("each gate has warnings of its own", () => {
  const { warnings, refuseAt } = setUp();
  for (const name of ["a", "b", "a"]) refuseAt(name);
  expect(warnings.map(({ gate }) => gate)).toEqual(["a", "b"]);
});

test("of more than 1000 gates the one that warned least recently is forgotten", () => {
  const { warnings, refuseAt } = setUp();
  for (let i = 0; i <= 1000; i++) refuseAt(`gate ${i}`);
  refuseAt("gate 1");
  expect(warnings).toHaveLength(1001);
  refuseAt("gate 0");
  expect(warnings).toHaveLength(1002);
});

test("a gate that has warned again is not the first to be forgotten", async () => {
  const { timer, warnings, refuseAt } = setUp();
  for (let i = 0; i < 1000; i++) refuseAt(`gate ${i}`);
  await timer.advance(5000);
  for (const name of ["gate 0", "a new gate", "gate 0"]) refuseAt(name);
  expect(warnings).toHaveLength(1002);
});

test("calls that a shadow gate would have limited are marked as such", async () => {
  const { messages, warnings, gateOf } = setUp();
  const gate = gateOf({ name: "api", concurrency: 1, shadow: true });
  await Promise.all([gate.run(() => Promise.resolve()), gate.run(() => Promise.resolve())]);
  expect(warnings.map(({ isShadow }) => isShadow)).toEqual([true]);
  expect(messages[0]).toContain("(shadow mode: it ran)");
});

test("the time between two warnings can be set", async () => {
  const { timer, warnings, gateOf } = setUp({ everyMs: 100 });
  const gate = gateOf({});
  gate.pause(1000);
  gate.tryAcquire(askOnce);
  await timer.advance(100);
  gate.tryAcquire(askOnce);
  expect(warnings).toHaveLength(2);
});

test("a logger instead of its method, and settings that are not known, are errors", () => {
  expect(() => warnWhenLimited(console as never)).toThrow(ConfigError);
  expect(() => warnWhenLimited(() => undefined, { every: 1 } as never)).toThrow(/everyMs/);
  expect(() => warnWhenLimited(() => undefined, { everyMs: -1 })).toThrow(ConfigError);
});
