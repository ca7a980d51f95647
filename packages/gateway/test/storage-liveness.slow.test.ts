import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import { expectAcknowledgedIsRemoved } from "./liveness.ts";

/** The quick suite has the seeds before these. */
const FIRST_SEED = 200;
const SEEDS = 10_000;

/** As long as the suite may take; LIVENESS_SECONDS=600 runs all seeds, in about a minute. */
const SECONDS = Number(process.env["LIVENESS_SECONDS"] ?? 20);

test(
  "after a crash at any point, what every subscription has acknowledged is removed: many seeds",
  { timeout: (SECONDS + 60) * 1000 },
  async () => {
    const endsAtMs = systemTimer.now() + SECONDS * 1000;
    let seed = FIRST_SEED;
    for (; seed < SEEDS && systemTimer.now() < endsAtMs; seed++)
      await expectAcknowledgedIsRemoved(seed);
    expect(seed).toBeGreaterThan(FIRST_SEED);
  },
);
