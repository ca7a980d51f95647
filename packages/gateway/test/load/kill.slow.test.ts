/** Gateways and brokers that are killed under load, with frames held by limits, and started again. */
import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import { heldBytesOf, startLoadScene } from "./load-scene.ts";

const KILLS = 20;

test.each(["front", "broker"] as const)(
  "%s killed, twenty times: every acknowledged message is stored once under its id, in order, and all clients go on",
  async (killed) => {
    const startedAtMs = systemTimer.now();
    const scene = await startLoadScene("gateway");
    let killsWithHeld = 0;
    for (let count = 0; count < KILLS; count++) {
      // All clients go on after the last kill: a kill before that would test nothing.
      await Promise.all(scene.loads.map((load) => load.acknowledgedMore()));
      if ((await heldBytesOf(scene.front)) > 0) killsWithHeld++;
      await scene[killed].kill();
    }
    const stored = await scene.verify();
    const elapsedMs = systemTimer.now() - startedAtMs;
    const acknowledged = scene.loads.map(({ acknowledged: { size } }) => size);
    process.stdout.write(
      `${killed} killed: ${elapsedMs.toFixed(0)} ms, acknowledged ${acknowledged.join(" + ")}, stored ${stored}, frames held at ${killsWithHeld} kills\n`,
    );
    expect(killsWithHeld).toBe(KILLS);
    const { faults } = await scene.front.now.report();
    expect(faults).toEqual([]);
  },
  400_000,
);
