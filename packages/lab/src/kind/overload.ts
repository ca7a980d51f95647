import { createBusyThrottle, SeededRandom } from "@sluice/core";
import * as v from "valibot";
import { EvenService } from "../simulation/services/even-service.ts";
import { phaseStats, RECOVERED_SHARE } from "../simulation/overload/phase-stats.ts";
import type { PhaseStats } from "../simulation/overload/phase-stats.ts";
import { runOverload } from "../simulation/overload/run-overload.ts";
import type { CapacityPhase, OverloadSecond } from "../simulation/overload/run-overload.ts";
import type { Point } from "../chart/chart.ts";
import { counted, percent } from "../report/words.ts";
import { list, map, milliseconds, oneOf, real, whole } from "../file/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Problem } from "../file/problem.ts";
import type { Kind, Run } from "../scenario/kind.ts";
import { sum } from "../simulation/fairness.ts";
import { rateOrList } from "./per-second.ts";
import { problemsOfRecovery, recovery, recoveryOf } from "./recovery.ts";

/** Requests offered in a run, at most two events each: some minutes of computing. */
const MAX_REQUESTS = 40_000_000;
/** Seconds × clients: a count is kept for every client in every second. */
const MAX_COUNTS = 10_000_000;
const MAX_SECONDS = 100_000;
const MAX_CLIENTS = 1000;

const COLUMNS = ["time", "offered", "sent", "ok", "busy", "throttled", "limit"] as const;

/** `limit` is null while there is none. */
type OverloadRow = Readonly<
  Record<Exclude<(typeof COLUMNS)[number], "limit">, number> & { limit: number | null }
>;

/** Clients behind busy throttles, against a service that answers busy above its capacity. */
export const overloadKind: Kind = defineKind(
  {
    rule: oneOf("table", "prose", "sluice"),
    recover: v.optional(recovery(), { rate: 3 }),
    clients: v.optional(whole(1, MAX_CLIENTS), 1),
    offeredPerSecond: rateOrList(MAX_REQUESTS),
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
          offeredPerSecond:
            typeof offeredPerSecond === "number"
              ? offeredPerSecond / clients
              : offeredPerSecond.map((rate) => rate / clients),
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
    const stats = phaseStats(seconds, capacity, typeof offeredPerSecond === "number");
    const rows = seconds.map(toRow);
    return {
      rows,
      stats,
      columns: COLUMNS.map((name) => ({
        name,
        cell: (row) => String(rows[row]?.[name] ?? "no limit"),
      })),
      closing: stats.map(phaseLine).join("\n"),
      chart: () => ({
        title: title || "Overload",
        subtitle: `rule ${rule}, ${counted(clients, "client")}, answers after ${responseMs} ms; the limit is drawn while there is one`,
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
    ...problemsOfSize(requestsOf(offeredPerSecond, durationS)),
    ...problemsOfSeconds(offeredPerSecond, durationS),
    ...problemsOfCounts(clients, durationS),
    ...problemsOfCapacity(capacity, durationS),
  ],
);

function requestsOf(offered: number | readonly number[], durationS: number): number {
  return typeof offered === "number" ? offered * durationS : sum(offered);
}

function problemsOfSeconds(offered: number | readonly number[], durationS: number): Problem[] {
  if (typeof offered === "number" || offered.length === durationS) return [];
  const message = `has ${counted(offered.length, "second")}; expected durationS, ${durationS}`;
  return [{ path: ["offeredPerSecond"], message, isMissing: false }];
}

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
  const rounded = limit === undefined ? null : Math.round(limit * 100) / 100;
  return { time, offered, sent, ok, busy, throttled, limit: rounded };
}

function phaseLine({ fromS, goodputRatio, busyPerSecond, recoveredAfterS }: PhaseStats): string {
  const busy = `${busyPerSecond.toFixed(1)} busy answers a second`;
  if (goodputRatio === null) return `from ${fromS} s: nothing could be taken; ${busy}`;
  const taken = `${percent(goodputRatio)} of what could be taken was taken`;
  return `from ${fromS} s: ${taken}, ${recoveredText(fromS, recoveredAfterS)}; ${busy}`;
}

function recoveredText(fromS: number, recoveredAfterS: number | null): string {
  const share = `${100 * RECOVERED_SHARE} %`;
  if (recoveredAfterS === null) return `less than ${share} of it in the last second`;
  if (recoveredAfterS === 0) return `at least ${share} of it in every second`;
  return `at least ${share} of it in every second from ${fromS + recoveredAfterS} s on`;
}

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
