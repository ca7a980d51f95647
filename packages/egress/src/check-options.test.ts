/** Options that a program without types, or in a hurry, may pass. */
import { ConfigError } from "@sluice/core";
import { describe, expect, test } from "vitest";
import { createGate } from "./gate/gate.ts";
import { createGates } from "./gate/gates.ts";
import { throttledFetch } from "./http/fetch.ts";
import { createInboundLimiter } from "./server/inbound-limiter.ts";
import { limitHttp } from "./server/framework/http.ts";
import { observeInboundWithOpenTelemetry, observeWithOpenTelemetry } from "./telemetry.ts";
import { throttle } from "./undici.ts";

const fn = (): void => undefined;

describe("a wrong option of", () => {
  test.each<[string, unknown, string]>([
    ["no object", 5, 'the options of a gate are 5; use an object such as { rate: "100/s" }'],
    ["a name that is a number", { name: 5 }, "name is 5; it must be a text for errors and metrics"],
    ["a shadow that is a text", { shadow: "no" }, 'shadow is "no"; it must be true or false'],
    [
      "a rate that is null",
      { rate: null },
      'rate is null; write it as "100/s", "1000/min" or "5/10s"',
    ],
    [
      "a rate that is a number",
      { rate: 100 },
      'rate is 100; write it as "100/s", "1000/min" or "5/10s"',
    ],
    ["busy as a flag", { busy: true }, 'busy is true; use an object such as { rule: "sluice" }'],
    ["runtime as a number", { runtime: 5 }, "runtime is 5; use an object such as { timer }"],
    ["a classify that is a list", { classify: [] }, "classify is a list; it must be a function"],
    [
      "observers that are an object",
      { observers: {} },
      "observers is an object; it must be a function or a list of them",
    ],
    [
      "an observer that is a number",
      { observers: [5] },
      "one of observers is 5; it must be a function",
    ],
  ])("a gate, %s, is an error with the way out", (_what, options, message) => {
    expect(() => createGate(options as never)).toThrow(new ConfigError(message));
  });

  test.each<[string, unknown, string | RegExp]>([
    [
      "no object",
      null,
      'the options of throttledFetch are null; use an object such as { rate: "10/s" }',
    ],
    ["a function", fn, /^the options of throttledFetch are a function/],
    ["a misspelt one", { cals: {} }, /^throttledFetch has no option "cals"; did you mean call\?/],
    [
      "keys that are a function",
      { keys: fn },
      /^keys are a function; use an object such as { of: /,
    ],
    ["keys.of that is a text", { keys: { of: "a" } }, 'keys.of is "a"; it must be a function'],
    ["a fetch that is none", { fetch: 5 }, "fetch is 5; it must be a function"],
  ])("throttledFetch, %s, is an error with the way out", (_what, options, message) => {
    expect(() => throttledFetch(options as never)).toThrow(message);
    expect(() => throttledFetch(options as never)).toThrow(ConfigError);
  });

  test("throttle, no object or a retry, is an error with the way out", () => {
    expect(() => throttle(5 as never)).toThrow(/^the options of throttle are 5/);
    expect(() => throttle({ retry: 3 } as never)).toThrow(/^throttle has no option "retry"/);
    expect(() => throttle({ keys: { of: 5 } } as never)).toThrow(/^keys.of is 5/);
  });

  test("gates, those of one gate among them, is an error with the way out", () => {
    expect(() => createGates(5 as never)).toThrow(/^the options of gates are 5/);
    expect(() => createGates({ rate: "5/s" } as never)).toThrow(
      'gates has no option "rate"; did you mean gate? it has gate, maxKeys, idleMs',
    );
  });

  test.each<[unknown, string]>([
    [{ signal: 5 }, "signal is 5; it must be an AbortSignal"],
    [{ wait: "no" }, 'wait is "no"; it must be true or false'],
    [{ idempotent: 1 }, "idempotent is 1; it must be true or false"],
    [{ costOf: {} }, "costOf is an object; it must be a function"],
  ])("a call, %j, is an error with the way out", async (options, message) => {
    await expect(createGate().run(fn, options as never)).rejects.toThrow(new ConfigError(message));
  });

  test("a middleware is an error that lists the rules for requests too", () => {
    expect(() => limitHttp({ rate: "5/s", windowMs: 5 } as never)).toThrow(
      /^limitHttp has no option "windowMs"; it has key, cost, exempt, answer, limiter, name, rate,/,
    );
    const limiter = createInboundLimiter({ rate: "5/s" });
    expect(() => limitHttp({ limiter, rate: "5/s" })).toThrow(
      'limitHttp with a limiter has no option "rate"; it has key, cost, exempt, answer, limiter',
    );
  });
});

test("an inbound limiter takes one observer as well as a list", async () => {
  const types: string[] = [];
  const limiter = createInboundLimiter({ rate: "5/s", observers: ({ type }) => types.push(type) });
  await limiter.admit("a");
  expect(types).toEqual(["admitted"]);
});

test.each([
  ["observeWithOpenTelemetry", observeWithOpenTelemetry],
  ["observeInboundWithOpenTelemetry", observeInboundWithOpenTelemetry],
])("%s without a meter says where a meter comes from", (name, observe) => {
  const way = `use ${name}(metrics.getMeter("my-service")) with \`metrics\` of @opentelemetry/api`;
  const withoutTypes = observe as (meter?: unknown) => unknown;
  const wrong: [unknown, string][] = [
    [undefined, "undefined"],
    [null, "null"],
    ["my-service", '"my-service"'],
    [{}, "an object"],
  ];
  for (const [meter, shown] of wrong)
    expect(() => withoutTypes(meter)).toThrow(
      new ConfigError(`${name} was given ${shown} instead of a meter; ${way}`),
    );
});
