import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const FRAMES = 300_000;

/** All 2.8 million flips of a byte take 25 s: `npm run fuzz:wire` has them. */
const EVERY = 5;

/** A quiet machine takes 6 s, one with ten other jobs on two cores took 40 s. */
const TIMEOUT_MS = 400_000;

test(
  "300,000 bad frames end in frames or protocol errors, fast, and leave no memory behind",
  async () => {
    const program = fileURLToPath(new URL("fuzz.mjs", import.meta.url));
    const args = ["--expose-gc", program, "--frames", `${FRAMES}`, "--every", `${EVERY}`];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const result = JSON.parse(stdout) as Record<string, number>;
    expect(result["fed"]).toBeGreaterThanOrEqual(FRAMES);
    expect(result["refused"]).toBeGreaterThan(FRAMES / 10);
    expect(result["accepted"]).toBeGreaterThan(FRAMES / 10);
    expect(result["slowestMs"]).toBeLessThan(50);
    expect(result["rssGrowthBytes"]).toBeLessThan(64 * 2 ** 20);
  },
  TIMEOUT_MS,
);
