import type { RampOptions, Random } from "@sluice/core";
import { SECOND_MS, shareOf } from "@sluice/core/internal";
import type { MemberRules } from "@sluice/fleet/sim";
import { drawExponential } from "../simulation/engine/draw.ts";
import { DocumentProtocol } from "./document/document-protocol.ts";
import type { Network } from "./network.ts";
import type { PoolEvent } from "./pool-action.ts";
import { PoolGauge } from "./measure/pool-gauge.ts";
import type { Measured, PoolFigures } from "./measure/pool-gauge.ts";
import { PoolSimulation } from "./pool-simulation.ts";
import type { Settling } from "./measure/settling.ts";
import type { ProcessRules, SimulatedProcess } from "./simulated-process.ts";
import { SluiceProtocol } from "./sluice/sluice-protocol.ts";
import type { SluiceParts } from "./sluice/sluice-protocol.ts";

export interface PoolRunOptions {
  readonly protocol: "sluice" | "document";
  readonly rules: Omit<ProcessRules, "lagMs">;
  readonly membership: MemberRules;
  readonly network: Network;
  /** In order of time. */
  readonly events: readonly PoolEvent[];
  readonly untilMs: number;
  readonly seed: number;
  /** Default: from when the shares first were the whole ceiling to the end. */
  readonly measured?: Measured;
  /** Parts of the members that a comparison replaces. Default: those of `@sluice/fleet`. */
  readonly parts?: SluiceParts;
}

export interface PoolRow {
  readonly t: number;
  readonly live: number;
  readonly members: Readonly<Record<string, { readonly size: number; readonly share: number }>>;
  readonly sum: number;
}

export interface PoolRunResult {
  readonly rows: readonly PoolRow[];
  readonly figures: PoolFigures;
  /** By event; undefined if the pool had not settled when the next event began. */
  readonly settledAfterMs: readonly (number | undefined)[];
  /** By row: the ceiling, and the tokens per second that were granted since the row before. */
  readonly ceilings: readonly number[];
  readonly granted: readonly number[];
}

/** The longest delay of a timer that is due, as on a machine that is not busy. */
const LAG_MAX_MS = 2;

/** Messages that take `latencyMs` on average, half of that at least, and arrive in order. */
export function steadyNetwork(latencyMs: number): Network {
  return {
    wayMs: (random: Random) => (latencyMs * (1 + drawExponential(random))) / 2,
    isOrdered: true,
  };
}

/** Runs a pool through what happens to it. */
export function runPool(options: PoolRunOptions): PoolRunResult {
  const { rules, membership, events, untilMs } = options;
  // By demand no process holds what no process wants.
  const gauge = new PoolGauge(membership.share === "equal", options.measured);
  const simulation = newSimulation(options, gauge);
  const { loop } = simulation;
  for (const event of events) {
    loop.at(beginOf(event), () => {
      simulation.perform(event.action);
      gauge.onChange(simulation);
    });
    // The end of a pause, of a cut and of a failover changes the pool too.
    const endMs = endOf(event);
    if (endMs > beginOf(event))
      loop.at(endMs, () => loop.at(endMs, () => gauge.onChange(simulation)));
  }
  const { syncIntervalMs } = membership.timing;
  const rows: PoolRow[] = [];
  const ceilings: number[] = [];
  const granted: number[] = [];
  for (let atMs = 0; atMs <= untilMs; atMs += syncIntervalMs) {
    loop.at(atMs, () => {
      gauge.onChange(simulation);
      rows.push(rowOf(simulation.processes, rules, atMs));
      ceilings.push(ceilingOf(simulation.processes, rules.rateLimit));
      granted.push((gauge.takeGranted() * SECOND_MS) / syncIntervalMs);
    });
  }
  simulation.runUntil(untilMs);
  gauge.onChange(simulation);
  const settledAfterMs = settledOf(events, untilMs, gauge.settling);
  return { rows, figures: gauge.figures, settledAfterMs, ceilings, granted };
}

function newSimulation(options: PoolRunOptions, gauge: PoolGauge): PoolSimulation {
  const { protocol, rules, membership, network, seed, parts } = options;
  const simulation: PoolSimulation = new PoolSimulation({
    rules: { ...rules, lagMs: (random) => LAG_MAX_MS * random.next() },
    protocol: (store) =>
      protocol === "sluice"
        ? new SluiceProtocol(store, membership, parts)
        : new DocumentProtocol(store, membership.timing),
    network,
    seed,
    watcher: {
      onChange: () => gauge.onChange(simulation),
      onGrant: (process, count) => gauge.onGrant(count, process.ceiling, simulation.loop.now()),
    },
  });
  return simulation;
}

/** A failover is told by when the older data come; they are those of `lagMs` before. */
function beginOf({ atMs, action }: PoolEvent): number {
  return action.do === "failover" ? atMs - action.lagMs : atMs;
}

/** When what an event does is over. */
function endOf({ atMs, action }: PoolEvent): number {
  return "forMs" in action ? atMs + action.forMs : atMs;
}

function settledOf(
  events: readonly PoolEvent[],
  untilMs: number,
  settling: Settling,
): (number | undefined)[] {
  return events.map((event) => {
    const endMs = endOf(event);
    const next = events.find(({ atMs }) => atMs > endMs)?.atMs ?? Number.POSITIVE_INFINITY;
    return settling.afterMs(endMs, Math.min(next, untilMs));
  });
}

function rowOf(
  processes: readonly SimulatedProcess[],
  rules: PoolRunOptions["rules"],
  atMs: number,
): PoolRow {
  const shown = processes.filter(({ member }) => !member.isRefused);
  const shares = shown.map((process) => shareAt(process, rules, atMs));
  const members = shown.map(({ name, member }, index): [string, PoolRow["members"][string]] => [
    name,
    { size: member.size, share: rounded(shares[index] ?? 0) },
  ]);
  return {
    t: atMs / SECOND_MS,
    live: shown.filter(({ isLive }) => isLive).length,
    members: Object.fromEntries(members),
    sum: rounded(shares.reduce((total, share) => total + share, 0)),
  };
}

/** With epochs a share is whole tokens. */
function shareAt(process: SimulatedProcess, rules: PoolRunOptions["rules"], atMs: number): number {
  const { entitlement } = process;
  if (rules.pacing === "smooth" || entitlement?.kind !== "seat" || process.isPaused)
    return process.share;
  const epoch = Math.floor(atMs / SECOND_MS);
  return shareOf(process.ceiling, entitlement.seat, epoch, rules.division);
}

function ceilingOf(processes: readonly SimulatedProcess[], { min }: RampOptions): number {
  let ceiling = min;
  for (const process of processes) ceiling = Math.max(ceiling, process.ceiling);
  return ceiling;
}

/** To a thousandth. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
