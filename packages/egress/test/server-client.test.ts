/** Our client's reading of our server's fields: who does as told gets through. */
import { createInboundLimiter } from "@sluice/egress/server";
import type { AnswerHeaders } from "@sluice/egress/server";
import { VirtualClock } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pauseOf } from "../src/hints/hint.ts";
import { readHints } from "../src/hints/hints.ts";
import type { Hints } from "../src/hints/hints.ts";
import { parseRateLimitPolicy } from "../src/hints/rate-limit-fields.ts";
import { classifyHttp } from "../src/outcome/http.ts";

const rate = fc.record({
  limit: fc.integer({ min: 1, max: 2000 }),
  periodMs: fc.oneof(
    fc.integer({ min: 1, max: 100_000 }),
    fc.constantFrom(1000, 60_000, 3_600_000, 86_400_000),
  ),
  burst: fc.integer({ min: 1, max: 30 }),
});
const policies = fc.dictionary(fc.constantFrom("burst", "sustained", "daily"), rate, {
  minKeys: 1,
});

function hintsOf(headers: AnswerHeaders): Hints {
  return readHints(new Headers(headers), 0);
}

test("a client that keeps to what is left and when more comes is never refused", () => {
  fc.assert(
    fc.property(policies, (chosen) => {
      const clock = new VirtualClock();
      const limiter = createInboundLimiter({ policies: chosen, clock });
      for (let i = 0; i < 100; i++) {
        const decision = limiter.check("client");
        expect(decision.admitted).toBe(true);
        clock.advance(
          Math.max(0, ...hintsOf(decision.headers).limits.map((limit) => pauseOf(limit) ?? 0)),
        );
      }
    }),
  );
});

test("a client that is refused and waits as told is admitted, whatever its cost", () => {
  const visits = fc.array(
    fc.record({
      cost: fc.integer({ min: 1, max: 40 }),
      idleMs: fc.double({ min: 0, max: 5000, noNaN: true }),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(policies, visits, (chosen, made) => {
      const clock = new VirtualClock();
      const limiter = createInboundLimiter({ policies: chosen, clock });
      for (const { cost, idleMs } of made) {
        clock.advance(idleMs);
        const first = limiter.check("client", cost);
        if (first.admitted) continue;
        const { retryAfterMs = 0 } = hintsOf(first.headers);
        expect(retryAfterMs).toBeGreaterThanOrEqual(first.retryAfterMs);
        expect(retryAfterMs).toBeLessThan(first.retryAfterMs + 1000);
        clock.advance(retryAfterMs);
        expect(limiter.check("client", cost).admitted).toBe(true);
      }
    }),
  );
});

test("what is left by the fields is what is admitted at that instant, and no more", () => {
  fc.assert(
    fc.property(policies, fc.integer({ min: 1, max: 10 }), (chosen, taken) => {
      const limiter = createInboundLimiter({ policies: chosen, clock: new VirtualClock() });
      let decision = limiter.check("client");
      for (let i = 0; i < taken; i++) decision = limiter.check("client");
      fc.pre(decision.admitted);
      const left = Math.min(
        ...hintsOf(decision.headers).limits.map(({ remaining = 0 }) => remaining),
      );
      for (let i = 0; i < left; i++) expect(limiter.check("client").admitted).toBe(true);
      expect(limiter.check("client").admitted).toBe(false);
    }),
  );
});

test("over any time no more is admitted than the burst and what the announced rate brings", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(rate, gaps, (chosen, waits) => {
      const clock = new VirtualClock();
      const limiter = createInboundLimiter({ rate: chosen, clock });
      let admitted = 0;
      for (const gapMs of waits) {
        clock.advance(gapMs);
        for (let i = 0; i < 40 && limiter.check("client").admitted; i++) admitted++;
      }
      const brought = (clock.now() * chosen.limit) / chosen.periodMs;
      expect(admitted).toBeLessThanOrEqual(chosen.burst + Math.floor(brought + 1e-6));
    }),
  );
});

test("the client knows its own quota from our lack of room, and that neither was begun", () => {
  const limiter = createInboundLimiter({
    rate: "1/min",
    concurrency: { limit: 1, retryAfterMs: 2000 },
    clock: new VirtualClock(),
  });
  limiter.check("client");
  const verdicts = ["client", "other"].map((key) => {
    const decision = limiter.check(key);
    const status = decision.admitted ? 200 : decision.status;
    return classifyHttp(status, hintsOf(decision.headers));
  });
  expect(verdicts).toEqual([
    {
      outcome: "busy",
      retriable: "safe",
      scope: "over-quota",
      hints: [expect.objectContaining({ rate: "default", retryAfterMs: 60_000 })],
    },
    { outcome: "busy", retriable: "safe", scope: "overloaded", pauseMs: 2000 },
  ]);
});

test("the client reads back the policies that were set", () => {
  const limiter = createInboundLimiter({
    policies: { burst: "20/s", daily: "5000/day" },
    clock: new VirtualClock(),
  });
  const field = limiter.check("client").headers["RateLimit-Policy"] ?? "";
  expect(parseRateLimitPolicy(field)).toEqual([
    { policy: "burst", quota: 20, windowMs: 1000, unit: "requests" },
    { policy: "daily", quota: 5000, windowMs: 86_400_000, unit: "requests" },
  ]);
});
