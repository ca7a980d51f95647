import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import { expectAcknowledgedIsRemoved } from "./liveness.ts";
import { expectVersionsAfterCrashes } from "./schema-crashes.ts";

/** The quick suite has the seeds before these. */
const FIRST_SEED = 400;
const SEEDS = 10_000;

/** As long as each test may take; CRASH_SECONDS=600 runs all seeds, in about a minute each. */
const SECONDS = Number(process.env["CRASH_SECONDS"] ?? 6);

test.each([
  ["what every subscription has acknowledged is removed", expectAcknowledgedIsRemoved],
  ["a schema version means what its client was told", expectVersionsAfterCrashes],
])(
  "after a crash at any point, %s: many seeds",
  { timeout: (SECONDS + 60) * 1000 },
  async (_, expectAfterCrashes) => {
    const endsAtMs = systemTimer.now() + SECONDS * 1000;
    let seed = FIRST_SEED;
    for (; seed < SEEDS && systemTimer.now() < endsAtMs; seed++) await expectAfterCrashes(seed);
    expect(seed).toBeGreaterThan(FIRST_SEED);
  },
);
