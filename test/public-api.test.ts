import { expect, test } from "vitest";
import { codeOf } from "./tree.ts";

/** The entries that a user can import from, and the file behind each. */
const ENTRIES = {
  "@sluice/core": "packages/core/src/index.ts",
  "@sluice/core/internal": "packages/core/src/internal.ts",
  "@sluice/core/system": "packages/core/src/system.ts",
  "@sluice/core/testing": "packages/core/src/testing.ts",
  "@sluice/egress": "packages/egress/src/index.ts",
  "@sluice/egress/undici": "packages/egress/src/undici.ts",
  "@sluice/egress/server": "packages/egress/src/server.ts",
  "@sluice/egress/telemetry": "packages/egress/src/telemetry.ts",
  "@sluice/fleet": "packages/fleet/src/index.ts",
  "@sluice/fleet/sim": "packages/fleet/src/sim.ts",
  "@sluice/fleet/telemetry": "packages/fleet/src/telemetry.ts",
  "@sluice/gateway": "packages/gateway/src/index.ts",
  "@sluice/gateway/admin": "packages/gateway/src/admin.ts",
  "@sluice/gateway/internal": "packages/gateway/src/internal.ts",
  "@sluice/gateway/sim": "packages/gateway/src/sim.ts",
  "@sluice/lab": "packages/lab/src/index.ts",
  "@sluice/lab/browser": "packages/lab/src/browser.ts",
  "@sluice/lab/file": "packages/lab/src/file.ts",
  "@sluice/lab/sim": "packages/lab/src/sim.ts",
  "@sluice/pipeline": "packages/pipeline/src/index.ts",
  "@sluice/pipeline/kafka": "packages/pipeline/src/kafka.ts",
  "@sluice/pipeline/nats": "packages/pipeline/src/nats.ts",
  "@sluice/pipeline/redis": "packages/pipeline/src/redis.ts",
  "@sluice/pipeline/telemetry": "packages/pipeline/src/telemetry.ts",
  "@sluice/pipeline/testing": "packages/pipeline/src/testing.ts",
  "@sluice/pulsar": "packages/pulsar/src/index.ts",
  "@sluice/pulsar/sim": "packages/pulsar/src/sim.ts",
  "@sluice/pulsar/wire": "packages/pulsar/src/wire.ts",
};

/**
 * test/public-api.txt changes only with an intended change of the API, and is reviewed as such:
 * `npx vitest run test/public-api.test.ts -u` writes it.
 */
test("what can be imported is what is listed", async () => {
  const found = Object.entries(ENTRIES).map(
    ([entry, file]) =>
      `${entry}\n${exportsOf(file)
        .map((name) => `  ${name}\n`)
        .join("")}`,
  );
  await expect(found.join("\n")).toMatchFileSnapshot("public-api.txt");
});

function exportsOf(file: string): string[] {
  const code = codeOf(file);
  const listed = [...code.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim()),
  );
  const declared = [
    ...code.matchAll(/export (?:async )?(?:const|function|class|interface|type) (\w+)/g),
  ].map(([, name = ""]) => name);
  return [...listed, ...declared].filter((name) => name !== "").toSorted();
}
