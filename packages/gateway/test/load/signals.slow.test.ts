/** A gateway that is stopped, or told to end, under load. */
import { SeededRandom } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import type { KilledLoad } from "./killed-load.ts";
import { LIMIT, startLoadScene } from "./load-scene.ts";

/** The default `drainMs`, and time for a busy machine to notice. */
const ENDED_MS = 5_000 + 2_000;
const TERMINATIONS = 3;

test.each(["gateway", "broker"] as const)(
  "SIGTERM of a %s under load, at random: it drains in time, exits with 0, nothing acknowledged is lost, and clients go on",
  async (front) => {
    const random = new SeededRandom(1_321);
    const scene = await startLoadScene(front);
    for (let count = 0; count < TERMINATIONS; count++) {
      await Promise.all(scene.loads.map((load) => load.acknowledgedMore()));
      await systemTimer.sleep(300 * random.next());
      const { code, elapsedMs } = await scene.front.terminate();
      expect(code).toBe(0);
      expect(elapsedMs).toBeLessThan(ENDED_MS);
    }
    await Promise.all(scene.loads.map((load) => load.acknowledgedMore()));
    await scene.verify();
  },
);

/** Acknowledged messages of one topic so far. */
function acknowledgedOf(loads: readonly KilledLoad[], topic: string): number {
  return loads
    .filter((load) => load.topic === topic)
    .reduce((sum, { acknowledged: { size } }) => sum + size, 0);
}

// A busy machine delays receipts into the measured seconds, or out of them: it has three tries.
test(
  "a gateway that was frozen for three seconds under load goes on at its limits, without a burst, and loses nothing",
  {
    retry: 2,
  },
  async () => {
    const { loads, front, verify } = await startLoadScene("gateway");
    const acknowledged = (): number => acknowledgedOf(loads, "public/default/single");
    // The burst of the full bucket is over.
    await systemTimer.sleep(2_000);
    front.now.freeze();
    await systemTimer.sleep(3_000);
    const before = acknowledged();
    front.now.thaw();
    const thawedAtMs = systemTimer.now();
    await systemTimer.sleep(1_000);
    const first = acknowledged() - before;
    const firstSeconds = (systemTimer.now() - thawedAtMs) / 1_000;
    await systemTimer.sleep(2_000);
    const all = acknowledged() - before;
    const seconds = (systemTimer.now() - thawedAtMs) / 1_000;
    process.stdout.write(
      `after the freeze: ${(first / firstSeconds / LIMIT).toFixed(3)} × the limit in the first second, ${(all / seconds / LIMIT).toFixed(3)} × in three\n`,
    );
    // 1.05 × and the receipts that were on their way; a full bucket would make it 2 ×.
    expect(first / firstSeconds).toBeLessThan(LIMIT * 1.3);
    expect(all / seconds).toBeLessThan(LIMIT * 1.1);
    // A busy machine delays receipts.
    expect(all / seconds).toBeGreaterThan(LIMIT * 0.85);
    await Promise.all(loads.map((load) => load.acknowledgedMore()));
    await verify();
    const { faults, reasons } = await front.now.report();
    expect([faults, reasons]).toEqual([[], {}]);
  },
);
