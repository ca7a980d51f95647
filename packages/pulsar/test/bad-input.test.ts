import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const FRAMES = 1_000_000;

test("a million bad frames end in frames or protocol errors, fast, and leave no memory behind", () => {
  const program = fileURLToPath(new URL("fuzz.mjs", import.meta.url));
  const printed = execFileSync(process.execPath, ["--expose-gc", program, "--frames", `${FRAMES}`]);
  const result = JSON.parse(printed.toString()) as Record<string, number>;
  expect(result["fed"]).toBeGreaterThanOrEqual(FRAMES);
  expect(result["refused"]).toBeGreaterThan(FRAMES / 10);
  expect(result["accepted"]).toBeGreaterThan(FRAMES / 10);
  expect(result["slowestMs"]).toBeLessThan(50);
  expect(result["rssGrowthBytes"]).toBeLessThan(64 * 2 ** 20);
});
