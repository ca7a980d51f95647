/** OpenTelemetry metrics of a fleet limiter. */
import type { Attributes, BatchObservableResult, Meter } from "@opentelemetry/api";
import type { FleetLimiter } from "./limiter/fleet-limiter.ts";
import type { FleetCounts } from "./limiter/counts.ts";
import type { FleetState, MembershipState } from "./limiter/state.ts";

const MS_PER_SECOND = 1000;
const STANDINGS: readonly MembershipState["standing"][] = ["joining", "member", "lost", "refused"];

/**
 * Reports a limiter to a meter; answers how to stop. Granting records nothing: the limiter's state and
 * counts are read when metrics are collected, which moves no ramp. All instruments carry the attributes
 * `pool` and, where there is a store, `member`.
 *
 * | instrument | kind |
 * | --- | --- |
 * | `sluice.fleet.requested`, `sluice.fleet.granted` by `lease`, `sluice.fleet.refused` by `reason` | counters, tokens |
 * | `sluice.fleet.deposited` by `kind`: unused, dropped | counter, tokens |
 * | `sluice.fleet.waits`, `sluice.fleet.waited` | counters: calls that waited, and for how many seconds all together |
 * | `sluice.fleet.waiting` | gauge: calls that wait now |
 * | `sluice.fleet.ceiling`, `sluice.fleet.share`, `sluice.fleet.left` | gauges, tokens: of the pool, of the member, available now |
 * | `sluice.fleet.usage` | gauge, 0 to 1: used ÷ usable tokens of the last epoch with a call that is over |
 * | `sluice.fleet.steps` by `step`: start, up, hold, down, gap | counter: what the ramp did |
 * | `sluice.fleet.size` | gauge: members of the pool at the last reply |
 * | `sluice.fleet.standing` by `standing` | gauge: 1 for the one it has, 0 for the others |
 * | `sluice.fleet.learning` | gauge, seconds: no share grows because the store has lost memory |
 * | `sluice.fleet.syncs` | counter: syncs that were answered |
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
    const labels: Attributes = member === undefined ? { pool } : { pool, member };
    const to = { result, instruments, labels };
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
  readonly labels: Attributes;
}

function observeCounts(
  { result, instruments: to, labels }: Observation,
  counts: FleetCounts,
): void {
  const { granted, grantedUnleased } = counts;
  result.observe(to.requested, counts.requested, labels);
  result.observe(to.granted, granted - grantedUnleased, { ...labels, lease: "held" });
  result.observe(to.granted, grantedUnleased, { ...labels, lease: "none" });
  for (const [reason, count] of Object.entries(counts.refusedBy))
    result.observe(to.refused, count, { ...labels, reason });
  result.observe(to.deposited, counts.deposited, { ...labels, kind: "unused" });
  result.observe(to.deposited, counts.refunded, { ...labels, kind: "dropped" });
  result.observe(to.waits, counts.waits, labels);
  result.observe(to.waited, counts.waitedMs / MS_PER_SECOND, labels);
  for (const [step, count] of Object.entries(counts.steps))
    result.observe(to.steps, count, { ...labels, step });
}

function observeState({ result, instruments: to, labels }: Observation, state: FleetState): void {
  const { waiting, ceiling, share, left, usage } = state;
  result.observe(to.waiting, waiting, labels);
  // Undefined without a limit.
  if (ceiling !== undefined) result.observe(to.ceiling, ceiling, labels);
  if (share !== undefined) result.observe(to.share, share, labels);
  if (left !== undefined) result.observe(to.left, left, labels);
  if (usage !== undefined) result.observe(to.usage, usage, labels);
}

function observeMembership(
  { result, instruments: to, labels }: Observation,
  membership: MembershipState,
  { syncs, syncFailures }: FleetCounts,
): void {
  const { standing, size, syncAgeMs, leaseLeftMs, learningMs, resumedFrom } = membership;
  // A standing that is not observed would keep its last value.
  for (const each of STANDINGS)
    result.observe(to.standing, each === standing ? 1 : 0, { ...labels, standing: each });
  result.observe(to.size, size, labels);
  result.observe(to.learning, learningMs / MS_PER_SECOND, labels);
  result.observe(to.syncs, syncs, labels);
  result.observe(to.syncErrors, syncFailures, labels);
  if (syncAgeMs !== undefined) result.observe(to.syncAge, syncAgeMs / MS_PER_SECOND, labels);
  result.observe(to.leaseLeft, leaseLeftMs / MS_PER_SECOND, labels);
  if (resumedFrom !== undefined)
    result.observe(to.resumeLevel, resumedFrom.level, { ...labels, left: resumedFrom.left });
}

function createInstruments(meter: Meter) {
  return {
    requested: meter.createObservableCounter("sluice.fleet.requested", {
      description: "Tokens asked for",
      unit: "{token}",
    }),
    granted: meter.createObservableCounter("sluice.fleet.granted", {
      description: "Tokens granted, under a lease or by the policy for members without one",
      unit: "{token}",
    }),
    refused: meter.createObservableCounter("sluice.fleet.refused", {
      description: "Tokens asked for, not granted and no longer waited for, by reason",
      unit: "{token}",
    }),
    deposited: meter.createObservableCounter("sluice.fleet.deposited", {
      description: "Tokens deposited: unused, or of dropped messages",
      unit: "{token}",
    }),
    waits: meter.createObservableCounter("sluice.fleet.waits", {
      description: "Calls that waited",
      unit: "{call}",
    }),
    waited: meter.createObservableCounter("sluice.fleet.waited", {
      description: "How long calls waited, all together",
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
      description: "Tokens available now",
      unit: "{token}",
    }),
    usage: meter.createObservableGauge("sluice.fleet.usage", {
      description: "Used ÷ usable tokens of the last epoch with a call that is over",
      unit: "1",
    }),
    standing: meter.createObservableGauge("sluice.fleet.standing", {
      description: "1 for what the member is in its pool",
      unit: "1",
    }),
    size: meter.createObservableGauge("sluice.fleet.size", {
      description: "Members of the pool at the last reply",
      unit: "{member}",
    }),
    learning: meter.createObservableGauge("sluice.fleet.learning", {
      description: "How long no share grows because the store has lost memory",
      unit: "s",
    }),
    syncs: meter.createObservableCounter("sluice.fleet.syncs", {
      description: "Syncs that were answered",
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
