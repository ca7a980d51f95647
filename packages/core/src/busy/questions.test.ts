import fc from "fast-check";
import { expect, test } from "vitest";
import { createBusyThrottle } from "./create-busy-throttle.ts";
import type { BusyRuleName } from "./create-busy-throttle.ts";
import type { BusyState } from "./busy-throttle.ts";

interface Event {
  readonly waitMs: number;
  readonly sends: number;
  readonly isBusy: boolean;
}

/** What each event sends, and the state it ends in; `asks`: with questions between. */
function play(rule: BusyRuleName, events: readonly Event[], asks: boolean): [number, BusyState][] {
  let nowMs = 0;
  const throttle = createBusyThrottle({ rule, clock: { now: () => nowMs } });
  const ask = (): void => {
    if (!asks) return;
    throttle.pauseMs();
    throttle.state();
  };
  return events.map(({ waitMs, sends, isBusy }) => {
    nowMs += waitMs / 2;
    ask();
    nowMs += waitMs / 2;
    ask();
    let sent = 0;
    for (let i = 0; i < sends; i++) if (throttle.trySend()) sent++;
    ask();
    for (let i = 0; i < sent; i++) throttle.onAnswer(nowMs - 20, isBusy);
    return [sent, throttle.state()];
  });
}

const events = fc.array(
  fc.record({
    waitMs: fc.oneof({ weight: 9, arbitrary: fc.nat(400) }, fc.nat(5000)),
    sends: fc.nat(30),
    isBusy: fc.boolean(),
  }),
  { minLength: 50, maxLength: 200 },
);

const RULES: readonly BusyRuleName[] = ["sluice", "table", "prose"];

test.each(RULES)("an answer to a request sent at no known instant is refused: rule %s", (rule) => {
  const throttle = createBusyThrottle({ rule });
  for (const sentAtMs of [Number.NaN, Infinity, undefined as never])
    expect(() => throttle.onAnswer(sentAtMs, true)).toThrow(`sentAtMs of onAnswer is ${sentAtMs};`);
});

test.each(RULES)("asking changes nothing: rule %s", (rule) => {
  fc.assert(
    fc.property(events, (each) => {
      expect(play(rule, each, true)).toEqual(play(rule, each, false));
    }),
    { numRuns: 50 },
  );
});
