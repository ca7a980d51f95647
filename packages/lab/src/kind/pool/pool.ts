import { ConfigError } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { checkTiming, DEFAULT_TIMING } from "@sluice/fleet/sim";
import type { Timing } from "@sluice/fleet/sim";
import * as v from "valibot";
import { runPool, steadyNetwork } from "../../pool/pool-run.ts";
import { map, milliseconds, oneOf, real, whole } from "../../file/fields.ts";
import { defineKind } from "../../scenario/kind.ts";
import type { Problem } from "../../file/problem.ts";
import type { Kind, Run } from "../../scenario/kind.ts";
import { MAX_SECONDS, poolEvents, problemsOfEvents } from "./pool-events.ts";
import { poolReport } from "./pool-report.ts";
import { rangeOf, rateLimit } from "../rate-limit.ts";

const MAX_MEMBERS = 10_000;
/** Shares in all rows together. More take gigabytes to hold and to print. */
const MAX_SHARES = 5_000_000;

const { syncIntervalMs, leaseMs, staleMs, timeoutMs } = DEFAULT_TIMING;
const DEFAULTS = {
  ...DEFAULT_TIMING,
  maxMembers: 64,
  onStoreLoss: "safe-share",
  joinOn: "agreement",
  latencyMs: 1,
} as const;

/** Processes that share a ceiling through a store, while things happen to them and to the store. */
export const poolKind: Kind = defineKind(
  {
    protocol: v.optional(oneOf("sluice", "document"), "sluice"),
    rateLimit: rateLimit(),
    store: v.optional(
      map({
        syncIntervalMs: v.optional(whole(1), syncIntervalMs),
        leaseMs: v.optional(whole(1), leaseMs),
        staleMs: v.optional(whole(1), staleMs),
        timeoutMs: v.optional(whole(1), timeoutMs),
        maxMembers: v.optional(whole(1, MAX_MEMBERS), DEFAULTS.maxMembers),
        onStoreLoss: v.optional(oneOf("safe-share", "closed", "open"), DEFAULTS.onStoreLoss),
        joinOn: v.optional(oneOf("agreement", "safe-share"), DEFAULTS.joinOn),
        latencyMs: v.optional(milliseconds(0), DEFAULTS.latencyMs),
      }),
      DEFAULTS,
    ),
    pacing: v.optional(oneOf("smooth", "epoch"), "smooth"),
    division: v.optional(oneOf("rotate", "floor"), "rotate"),
    share: v.optional(oneOf("equal", "demand"), "demand"),
    events: poolEvents(),
    untilS: real(0.001, MAX_SECONDS),
  },
  (scenario): Run => {
    const { protocol, rateLimit: ramp, store, pacing, division, share, events } = scenario;
    const { maxMembers, onStoreLoss, joinOn, latencyMs } = store;
    const needsRank = pacing === "epoch";
    const timing = timingOf(store);
    const result = runPool({
      protocol,
      rules: { rateLimit: ramp, pacing, division },
      membership: { timing, maxMembers, onStoreLoss, joinOn, share, needsRank },
      network: steadyNetwork(latencyMs),
      events,
      untilMs: scenario.untilS * SECOND_MS,
      seed: scenario.seed,
    });
    const shares = protocol === "document" ? "by the document's rule" : `by ${share}`;
    const subtitle = `${rangeOf(ramp)}, ${pacing}, shares ${shares}`;
    return poolReport(result, events, { title: scenario.title || "Pool", subtitle });
  },
  ({ store, events, untilS }) => [
    ...problemsOfTiming(timingOf(store)),
    ...problemsOfEvents(events, { untilS, maxMembers: store.maxMembers }),
    ...problemsOfSize(events.length, (untilS * SECOND_MS) / store.syncIntervalMs),
  ],
);

function timingOf(store: Timing): Timing {
  const { syncIntervalMs: sync, leaseMs: lease, staleMs: stale, timeoutMs: timeout } = store;
  return { syncIntervalMs: sync, leaseMs: lease, staleMs: stale, timeoutMs: timeout };
}

function problemsOfTiming(timing: Timing): Problem[] {
  try {
    checkTiming(timing);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The message begins with the name of the key that is wrong.
    const [key = "", ...rest] = error.message.split(" ");
    return [{ path: ["store", key], message: rest.join(" "), isMissing: false }];
  }
}

function problemsOfSize(events: number, rows: number): Problem[] {
  if (events * rows <= MAX_SHARES) return [];
  const message = `makes ${Math.ceil(rows)} rows, which with ${events} events is too much; make it shorter`;
  return [{ path: ["untilS"], message, isMissing: false }];
}
