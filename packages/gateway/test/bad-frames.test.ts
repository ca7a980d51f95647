import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const FRAMES = 200_000;

test("connections full of damaged frames end, and an honest client is served while they last", () => {
  const program = fileURLToPath(new URL("fuzz.mjs", import.meta.url));
  const printed = execFileSync(process.execPath, ["--expose-gc", program, "--frames", `${FRAMES}`]);
  const result = JSON.parse(printed.toString()) as Record<string, number>;
  expect(result["faults"]).toEqual([]);
  expect(result["frames"]).toBeGreaterThanOrEqual(FRAMES);
  expect(result["rssGrowthBytes"]).toBeLessThan(64 * 2 ** 20);
  expect(result["trips"]).toBeGreaterThan(100);
  // Attackers, the honest client and the broker share one thread here, and the machine has other work.
  expect(result["slowestMs"]).toBeLessThan(200 + 10 * Number(result["quietMs"]));
});
