import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests run on the sources, so that they need no build. */
const source = (path: string): string =>
  fileURLToPath(new URL(`packages/${path}`, import.meta.url));

const SLOW = "**/*.slow.test.ts";
const BROWSER = "**/*.browser.test.ts";

/** Slow tests that judge by no real clock and no memory of a loaded process, so that they may share the machine. */
const PATIENT = [
  `packages/{core,lab}/${SLOW}`,
  "packages/gateway/test/storage-crash.slow.test.ts",
  "packages/gateway/test/load/kill.slow.test.ts",
  "packages/pipeline/test/never-too-little.slow.test.ts",
  "packages/sluice/test/{docs-commands,docs-programs,docs-site,quickstart,secrets,tarballs}.slow.test.ts",
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
        // Long simulations, whose time is virtual, and processes that are only waited for.
        extends: true,
        test: {
          name: "simulations",
          include: PATIENT,
          maxWorkers: 2,
          testTimeout: 240_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Real processes and servers under load: after all others, one file at a time.
        extends: true,
        test: {
          name: "slow",
          include: [`packages/*/${SLOW}`],
          exclude: PATIENT,
          maxWorkers: 1,
          // Ten times what a quiet machine takes for most: with a load of 6 for each core, tests took up to eight times.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // The dashboard in a real browser, against flows that really run: last, one file at a time.
        extends: true,
        test: {
          name: "browser",
          include: [`packages/*/${BROWSER}`],
          maxWorkers: 1,
          // Waits of a page are bounded by real time: with two other test runs beside it, 2 of 47 tests were too late.
          retry: 2,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
