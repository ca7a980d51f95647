import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string =>
  fileURLToPath(new URL(`../packages/${path}`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL("./", import.meta.url)),
  resolve: {
    alias: [
      { find: /^@sluice\/(\w+)$/, replacement: source("$1/src/index.ts") },
      { find: /^@sluice\/(\w+)\/(\w+)$/, replacement: source("$1/src/$2.ts") },
    ],
  },
  test: {
    include: ["*.interop.test.ts"],
    // Brokers and clients are processes that fill the machine: one after the other.
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    reporters: ["default", "../test/closing-line.ts"],
  },
});
