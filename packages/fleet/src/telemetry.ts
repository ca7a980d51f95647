/** What a fleet limiter has done and is at, as metrics of OpenTelemetry. */
import type { Attributes, BatchObservableResult, Meter } from "@opentelemetry/api";
import type { FleetLimiter } from "./limiter/fleet-limiter.ts";
import type { FleetCounts } from "./limiter/counts.ts";
import type { FleetState, MembershipState } from "./limiter/state.ts";

const MS_PER_SECOND = 1000;
const STANDINGS: readonly MembershipState["standing"][] = ["joining", "member", "lost", "refused"];

/**
 * Shows a limiter to a meter, until the answer is called. Nothing is recorded when tokens are granted:
 * the limiter is looked at whenever metrics are collected, and looking moves nothing. All instruments
 * carry the attributes `pool` and, where there is a store, `member`.
 *
 * | instrument | kind |
 * | --- | --- |
 * | `sluice.fleet.requested`, `sluice.fleet.granted` by `lease`, `sluice.fleet.refused` by `reason` | counters, tokens |
 * | `sluice.fleet.deposited` by `kind`: unused, dropped | counter, tokens |
 * | `sluice.fleet.waits`, `sluice.fleet.waited` | counters: calls that waited, and for how many seconds in all |
 * | `sluice.fleet.waiting` | gauge: calls that wait now |
 * | `sluice.fleet.ceiling`, `sluice.fleet.share`, `sluice.fleet.left` | gauges, tokens: of the pool, of the member, there now |
 * | `sluice.fleet.usage` | gauge, 0 to 1: of the last epoch with a call that is over |
 * | `sluice.fleet.steps` by `step`: start, up, hold, down, gap | counter: what the ramp did |
 * | `sluice.fleet.size` by `view`: known, desired, live | gauge: what it divides by, reports, and was told |
 * | `sluice.fleet.standing` by `standing` | gauge: 1 for the one it has, 0 for the others |
 * | `sluice.fleet.verdicts` by `verdict` | counter: syncs that were answered |
 * | `sluice.fleet.sync_errors` | counter |
 * | `sluice.fleet.sync_age`, `sluice.fleet.lease_left` | gauges, s: the age of what it knows, and for how long it counts |
 * | `sluice.fleet.resume_level` by `left` | gauge, tokens: the level of others that it took up |
 */
export function observeWithOpenTelemetry(meter: Meter, limiter: FleetLimiter): () => void {
  const instruments = createInstruments(meter);
  const all = Object.values(instruments);
  const look = (result: BatchObservableResult): void => {
    const state = limiter.state();
    const { pool, member, membership } = state;
    const who: Attributes = member === undefined ? { pool } : { pool, member };
    const to = { result, instruments, who };
    observeCounts(to, limiter.counts);
    observeState(to, state);
    if (membership !== undefined) observeMembership(to, membership, limiter.counts);
  };
  meter.addBatchObservableCallback(look, all);
  return () => meter.removeBatchObservableCallback(look, all);
}

interface Observation {
  readonly result: BatchObservableResult;
  readonly instruments: ReturnType<typeof createInstruments>;
  readonly who: Attributes;
}

function observeCounts({ result, instruments: to, who }: Observation, counts: FleetCounts): void {
  const { granted, grantedUnleased } = counts;
  result.observe(to.requested, counts.requested, who);
  result.observe(to.granted, granted - grantedUnleased, { ...who, lease: "held" });
  result.observe(to.granted, grantedUnleased, { ...who, lease: "none" });
  for (const [reason, count] of Object.entries(counts.refusedBy))
    result.observe(to.refused, count, { ...who, reason });
  result.observe(to.deposited, counts.deposited, { ...who, kind: "unused" });
  result.observe(to.deposited, counts.refunded, { ...who, kind: "dropped" });
  result.observe(to.waits, counts.waits, who);
  result.observe(to.waited, counts.waitedMs / MS_PER_SECOND, who);
  for (const [step, count] of Object.entries(counts.steps))
    result.observe(to.steps, count, { ...who, step });
}

function observeState({ result, instruments: to, who }: Observation, state: FleetState): void {
  const { waiting, ceiling, share, left, usage } = state;
  result.observe(to.waiting, waiting, who);
  // Without a limit there is none of these.
  if (ceiling !== undefined) result.observe(to.ceiling, ceiling, who);
  if (share !== undefined) result.observe(to.share, share, who);
  if (left !== undefined) result.observe(to.left, left, who);
  if (usage !== undefined) result.observe(to.usage, usage, who);
}

function observeMembership(
  { result, instruments: to, who }: Observation,
  membership: MembershipState,
  { agreements, disagreements, syncFailures }: FleetCounts,
): void {
  const { standing, size, reported, live, syncAgeMs, leaseLeftMs, resumedFrom } = membership;
  // What is no longer told would stay as it was.
  for (const each of STANDINGS)
    result.observe(to.standing, each === standing ? 1 : 0, { ...who, standing: each });
  result.observe(to.size, size, { ...who, view: "known" });
  if (reported !== undefined) result.observe(to.size, reported, { ...who, view: "desired" });
  if (live !== undefined) result.observe(to.size, live, { ...who, view: "live" });
  result.observe(to.verdicts, agreements, { ...who, verdict: "agree" });
  result.observe(to.verdicts, disagreements, { ...who, verdict: "disagree" });
  result.observe(to.syncErrors, syncFailures, who);
  if (syncAgeMs !== undefined) result.observe(to.syncAge, syncAgeMs / MS_PER_SECOND, who);
  result.observe(to.leaseLeft, leaseLeftMs / MS_PER_SECOND, who);
  if (resumedFrom !== undefined)
    result.observe(to.resumeLevel, resumedFrom.level, { ...who, left: resumedFrom.left });
}

function createInstruments(meter: Meter) {
  return {
    requested: meter.createObservableCounter("sluice.fleet.requested", {
      description: "Tokens asked for",
      unit: "{token}",
    }),
    granted: meter.createObservableCounter("sluice.fleet.granted", {
      description: "Tokens granted, under a lease or by the policy for those who hold none",
      unit: "{token}",
    }),
    refused: meter.createObservableCounter("sluice.fleet.refused", {
      description: "Tokens asked for, not granted and no longer waited for",
      unit: "{token}",
    }),
    deposited: meter.createObservableCounter("sluice.fleet.deposited", {
      description: "Tokens that came back",
      unit: "{token}",
    }),
    waits: meter.createObservableCounter("sluice.fleet.waits", {
      description: "Calls that waited",
      unit: "{call}",
    }),
    waited: meter.createObservableCounter("sluice.fleet.waited", {
      description: "How long calls waited in all",
      unit: "s",
    }),
    steps: meter.createObservableCounter("sluice.fleet.steps", {
      description: "What the ramp did at the first call of an epoch",
      unit: "{step}",
    }),
    waiting: meter.createObservableGauge("sluice.fleet.waiting", {
      description: "Calls that wait",
      unit: "{call}",
    }),
    ceiling: meter.createObservableGauge("sluice.fleet.ceiling", {
      description: "Tokens a second of the whole pool",
      unit: "{token}/s",
    }),
    share: meter.createObservableGauge("sluice.fleet.share", {
      description: "Tokens a second of this member",
      unit: "{token}/s",
    }),
    left: meter.createObservableGauge("sluice.fleet.left", {
      description: "Tokens that could be taken",
      unit: "{token}",
    }),
    usage: meter.createObservableGauge("sluice.fleet.usage", {
      description: "The used part of what could be handed out in the last epoch that is over",
      unit: "1",
    }),
    standing: meter.createObservableGauge("sluice.fleet.standing", {
      description: "1 for what the member is in its pool",
      unit: "1",
    }),
    size: meter.createObservableGauge("sluice.fleet.size", {
      description: "Members of the pool: known, desired, live",
      unit: "{member}",
    }),
    verdicts: meter.createObservableCounter("sluice.fleet.verdicts", {
      description: "Syncs that were answered, by whether all agree",
      unit: "{sync}",
    }),
    syncErrors: meter.createObservableCounter("sluice.fleet.sync_errors", {
      description: "Syncs that failed, took too long or were answered with nonsense",
      unit: "{sync}",
    }),
    syncAge: meter.createObservableGauge("sluice.fleet.sync_age", {
      description: "Since the last sync was sent that was answered",
      unit: "s",
    }),
    leaseLeft: meter.createObservableGauge("sluice.fleet.lease_left", {
      description: "How long the share is still held",
      unit: "s",
    }),
    resumeLevel: meter.createObservableGauge("sluice.fleet.resume_level", {
      description: "The level of others that was taken up at the start",
      unit: "{token}/s",
    }),
  };
}
