import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

const source = (path: string): string =>
  fileURLToPath(new URL(`../packages/${path}`, import.meta.url));

/**
 * What needs the fewest programs comes first, while the others are fetched. Files that share a broker of
 * Pulsar are neighbours, see `servers/shared-broker.ts`. Optional suites come last.
 */
const ORDER = [
  "prometheus",
  "manifests",
  "packages",
  "foreign-clients",
  "java-client",
  "wire-bytes",
  "pulsar-admin",
  "gateway",
  "our-client",
  "limits",
  "isolation",
  "nats-connector",
  "kafka-connector",
  "flow-file",
  "throughput",
  "golden-frames",
  "broker-crash",
];

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => placeOf(a) - placeOf(b)));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = ORDER.indexOf(basename(moduleId, ".interop.test.ts"));
  return place < 0 ? ORDER.length : place;
}

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
    // Brokers and clients are processes that fill the machine: one file after the other, in one process,
    // so that files can share a broker.
    fileParallelism: false,
    isolate: false,
    sequence: { sequencer: InOrder },
    // Most of a case's time is starting processes and waiting, so a few run at once where only their
    // outcome counts. With more, on two cores, cases reach time-outs of their own.
    maxConcurrency: 4,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // As in the other tests: a busy machine is late once, a wrong line fails again.
    retry: 1,
    reporters: ["default", "../test/closing-line.ts"],
  },
});
