import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests run on the sources, so that they need no build. */
const source = (path: string): string =>
  fileURLToPath(new URL(`packages/${path}`, import.meta.url));

const SLOW = "**/*.slow.test.ts";
const BROWSER = "**/*.browser.test.ts";

/** Slow tests that judge rates, delays or the memory of a loaded process by the real clock: nothing else may run beside them. */
const ALONE = [
  "packages/fleet/test/processes.slow.test.ts",
  "packages/gateway/test/load/{descriptors,fairness,in-flight,memory,path,publish-attacks}.slow.test.ts",
  "packages/pipeline/test/{memory,pulsar-to-http,replicas-redis}.slow.test.ts",
  "packages/pulsar/test/bad-input.slow.test.ts",
  "packages/sluice/test/{quickstart-sample,shared-limit}.slow.test.ts",
  "packages/sluice/test/browser/{budget,memory}.browser.test.ts",
];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@sluice\/(\w+)$/, replacement: source("$1/src/index.ts") },
      { find: /^@sluice\/(\w+)\/(\w+)$/, replacement: source("$1/src/$2.ts") },
    ],
  },
  test: {
    // One process for all files is several times faster; no test may leave module state behind.
    isolate: false,
    // Some tests start processes, and a busy machine starts them slowly.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Processes and sockets of a busy machine are sometimes late; a wrong line fails again. Seeds are fixed, so a property fails
    // again too. The end of a run names every test that passed only when it was repeated.
    retry: 1,
    setupFiles: ["./test/seed.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/sluice/page/src/**/*.test.ts",
            "packages/*/test/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          exclude: [SLOW, BROWSER],
          // One core is left free by default; with two cores that is one worker, and half of the tests wait.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Long simulations, whose time is virtual, and processes that are mostly waited for: two files at a time.
        extends: true,
        test: {
          name: "slow",
          include: [`packages/*/${SLOW}`],
          exclude: ALONE,
          maxWorkers: 2,
          // Ten times what a quiet machine takes for most: with a load of 6 for each core, tests took up to eight times.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // The dashboard in a real browser, against flows that really run.
        extends: true,
        test: {
          name: "browser",
          include: [`packages/*/${BROWSER}`],
          exclude: ALONE,
          maxWorkers: 2,
          // Waits of a page are bounded by real time: with two other test runs beside it, 2 of 47 tests were too late.
          retry: 2,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: ALONE,
          maxWorkers: 1,
          retry: 2,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
