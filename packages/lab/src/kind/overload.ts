import { createBusyThrottle, SeededRandom } from "@sluice/core";
import * as v from "valibot";
import type { Point } from "../chart/chart.ts";
import { EvenService } from "../overload/even-service.ts";
import { phaseStats } from "../overload/phase-stats.ts";
import type { PhaseStats } from "../overload/phase-stats.ts";
import { runOverload } from "../overload/simulation.ts";
import type { CapacityPhase, OverloadSecond } from "../overload/simulation.ts";
import { list, map, milliseconds, oneOf, real, whole } from "../scenario/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Kind, Problem, Run } from "../scenario/kind.ts";
import { problemsOfRecovery, recovery, recoveryOf } from "./recovery.ts";

/** Requests offered in a run: some minutes of computing. Each is two events at most. */
const MAX_REQUESTS = 40_000_000;
/** Seconds times clients: what each was served in every second is kept. */
const MAX_COUNTS = 10_000_000;
const MAX_SECONDS = 100_000;
const MAX_CLIENTS = 1000;

/** What a row shows; who was served is told by the fairness of a phase. */
const COLUMNS = ["time", "offered", "sent", "ok", "busy", "throttled", "limit"] as const;

type OverloadRow = Readonly<Record<Exclude<(typeof COLUMNS)[number], "limit">, number>> & {
  /** Null while a client has none. */
  readonly limit: number | null;
};

/**
 * Clients behind busy throttles against a service that takes requests evenly, 10 ms of them at once
 * at most, and answers busy to the rest. `offeredPerSecond` is that of all clients together.
 */
export const overloadKind: Kind = defineKind(
  {
    rule: oneOf("table", "prose", "sluice"),
    recover: v.optional(recovery(), { rate: 3 }),
    clients: v.optional(whole(1, MAX_CLIENTS), 1),
    offeredPerSecond: real(0.001, MAX_REQUESTS),
    service: map({
      responseMs: milliseconds(0),
      capacity: list(map({ fromS: whole(0), perSecond: real(0) }), MAX_SECONDS),
    }),
    durationS: whole(1, MAX_SECONDS),
  },
  ({ rule, recover, clients, offeredPerSecond, service, durationS, seed, title }): Run => {
    const { responseMs, capacity } = service;
    const seconds = runOverload(
      {
        clients: Array.from({ length: clients }, () => ({
          offeredPerSecond: offeredPerSecond / clients,
        })),
        throttle: (clock) =>
          rule === "sluice"
            ? createBusyThrottle({ clock })
            : createBusyThrottle({ clock, rule, recover: recoveryOf(rule, recover) }),
        service: new EvenService(),
        capacity,
        responseMs: () => responseMs,
        durationS,
      },
      new SeededRandom(seed),
    );
    const stats = phaseStats(seconds, capacity);
    const rows = seconds.map(toRow);
    return {
      rows,
      stats,
      columns: COLUMNS.map((name) => ({
        name,
        cell: (row) => String(rows[row]?.[name] ?? "none"),
      })),
      closing: stats.map(phaseLine).join("\n"),
      chart: () => ({
        title: title || "Overload",
        subtitle: `rule ${rule}, ${clients} client(s), answers after ${responseMs} ms`,
        x: { label: "time", unit: "s" },
        y: {
          label: "requests",
          unit: "per second",
          max: 1.2 * rows.reduce((most, { offered }) => Math.max(most, offered), 1),
        },
        series: [
          { label: "taken", shape: "bar", points: points(rows, "ok") },
          { label: "busy", shape: "bar", points: points(rows, "busy") },
          { label: "limit", shape: "step", points: points(rows, "limit") },
          { label: "capacity", shape: "step", points: capacityPoints(capacity, durationS) },
        ],
      }),
    };
  },
  ({ rule, recover, clients, offeredPerSecond, durationS, service: { capacity } }) => [
    ...problemsOfRecovery(rule, recover),
    ...problemsOfSize(offeredPerSecond * durationS),
    ...problemsOfCounts(clients, durationS),
    ...problemsOfCapacity(capacity, durationS),
  ],
);

function problemsOfSize(requests: number): Problem[] {
  if (requests <= MAX_REQUESTS) return [];
  const message = `comes to ${Math.ceil(requests)} requests with offeredPerSecond; at most ${MAX_REQUESTS} are run`;
  return [{ path: ["durationS"], message, isMissing: false }];
}

function problemsOfCounts(clients: number, durationS: number): Problem[] {
  if (clients * durationS <= MAX_COUNTS) return [];
  const message = `is ${durationS}; expected at most ${Math.floor(MAX_COUNTS / clients)} with ${clients} clients`;
  return [{ path: ["durationS"], message, isMissing: false }];
}

function problemsOfCapacity(capacity: readonly CapacityPhase[], durationS: number): Problem[] {
  if (capacity[0]?.fromS !== 0) {
    const message = "does not begin at 0; expected a first item with fromS: 0";
    return [{ path: ["service", "capacity"], message, isMissing: false }];
  }
  return capacity.flatMap(({ fromS }, index) => {
    const path = ["service", "capacity", index, "fromS"];
    const before = capacity[index - 1]?.fromS;
    if (before !== undefined && fromS <= before) {
      const message = `is ${fromS}; expected more than ${before}, which stands before it`;
      return [{ path, message, isMissing: false }];
    }
    if (fromS < durationS) return [];
    return [{ path, message: `is ${fromS}; expected less than durationS`, isMissing: false }];
  });
}

function toRow({ time, offered, sent, ok, busy, throttled, limit }: OverloadSecond): OverloadRow {
  const shown = limit === undefined ? null : Math.round(limit * 100) / 100;
  return { time, offered, sent, ok, busy, throttled, limit: shown };
}

function phaseLine({ fromS, goodputRatio, busyPerSecond, recoveredAfterS }: PhaseStats): string {
  const goodput =
    goodputRatio === null ? "nothing could be" : `${percent(goodputRatio)} of what could be`;
  const recovered = recoveredAfterS === null ? "never all" : `all after ${recoveredAfterS} s`;
  return `from ${fromS} s: ${goodput} taken, ${recovered}; ${busyPerSecond.toFixed(1)} busy a second`;
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}

/** Where a client has no limit, the limit of all has a gap. */
function points(rows: readonly OverloadRow[], key: (typeof COLUMNS)[number]): Point[] {
  return rows.map((row) => ({ x: row.time, y: row[key] ?? undefined }));
}

function capacityPoints(
  capacity: readonly CapacityPhase[],
  durationS: number,
): { x: number; y: number }[] {
  const last = capacity.at(-1)?.perSecond ?? 0;
  const changes = capacity.map(({ fromS, perSecond }) => ({ x: fromS, y: perSecond }));
  return [...changes, { x: durationS, y: last }];
}
