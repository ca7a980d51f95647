/** A quiet client beside a noisy one, in virtual time. */
import { createInboundLimiter } from "@sluice/egress/server";
import type { InboundConcurrencyOptions } from "@sluice/egress/server";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";

const SERVICE_MS = 50;
const SECONDS = 10;

interface Tally {
  asked: number;
  served: number;
}

/** Requests of `key`, one every `everyMs`, whatever becomes of those before. */
async function load(concurrency: number | InboundConcurrencyOptions) {
  const timer = new VirtualTimer();
  const limiter = createInboundLimiter({ concurrency, clock: timer });
  const send = async (key: string, tally: Tally): Promise<void> => {
    tally.asked++;
    const decision = await limiter.admit(key);
    if (!decision.admitted) return;
    await timer.sleep(SERVICE_MS);
    decision.permit?.end("ok", timer.now());
    tally.served++;
  };
  const client = async (key: string, everyMs: number, burst: number): Promise<Tally> => {
    const tally = { asked: 0, served: 0 };
    const sent: Promise<void>[] = [];
    for (let atMs = 0; atMs < SECONDS * 1000; atMs += everyMs) {
      for (let i = 0; i < burst; i++) sent.push(send(key, tally));
      await timer.sleep(everyMs);
    }
    await Promise.all(sent);
    return tally;
  };
  const tallies = Promise.all([client("noisy", 20, 16), client("quiet", 270, 1)]);
  await timer.advance(SECONDS * 1000 + 5000);
  const [noisy, quiet] = await tallies;
  expect(limiter.inFlight).toBe(0);
  return { noisy, quiet };
}

test("beside a client that sends four times what all permits can serve, a quiet client is served", async () => {
  const { noisy, quiet } = await load(10);
  expect(quiet.asked).toBe(38);
  expect(quiet.served / quiet.asked).toBeGreaterThanOrEqual(0.95);
  // The capacity is used: 10 permits of 50 ms are 200 requests a second.
  expect(noisy.served + quiet.served).toBeGreaterThanOrEqual(0.97 * 200 * SECONDS);
});

test("without a wait the quiet client is refused most of the time, as it was before", async () => {
  const { quiet } = await load({ limit: 10, maxWaitMs: 0 });
  expect(quiet.served / quiet.asked).toBeLessThan(0.5);
});
