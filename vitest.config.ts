import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests run on the sources, so that they need no build. */
const source = (path: string): string =>
  fileURLToPath(new URL(`packages/${path}`, import.meta.url));

const SLOW = "**/*.slow.test.ts";

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
    testTimeout: 60_000,
    setupFiles: ["./test/seed.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/*/test/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          exclude: [SLOW],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Long simulations, which have the clock to themselves and so may share the machine.
        extends: true,
        test: {
          name: "simulations",
          include: [`packages/{core,lab}/${SLOW}`],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Real processes and servers under load: after all others, one file at a time.
        extends: true,
        test: {
          name: "slow",
          include: [`packages/*/${SLOW}`],
          exclude: [`packages/{core,lab}/${SLOW}`],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
