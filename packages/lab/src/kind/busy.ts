import { LIMIT_MAX, proseRule, tableRule } from "@sluice/core";
import type { BusyRule, Recovery } from "@sluice/core";
import * as v from "valibot";
import { real, field, map, oneOf } from "../scenario/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Kind, Run } from "../scenario/kind.ts";
import { busyShape, trafficShape } from "./traffic.ts";
import type { Traffic } from "./traffic.ts";

interface BusyRow {
  readonly time: number;
  readonly rps: number;
  readonly throttled: number;
  readonly busy: number;
  readonly limit: number;
}

/** Seconds of the document's simulation: the last busy one, and the last to recover in. */
const BUSY_UNTIL = 9;
const RECOVERY_UNTIL = 30;
/** Left out between the two; the speed of a recovery is counted from here. */
const RECOVERY_BASE = 10;

export const busyKind: Kind = defineKind(
  {
    rule: oneOf("table", "prose"),
    recover: v.optional(recovery(), { rate: 3 }),
    offered: trafficShape(),
    busy: busyShape(),
  },
  ({ rule, recover, offered, busy, title }): Run => {
    const next = rule === "table" ? tableRule(recover) : proseRule(recover);
    const { rows, convergedAt } = simulate(next, offered, busy);
    const speed = convergedAt === undefined ? undefined : convergedAt - RECOVERY_BASE;
    const columns = ["time", "rps", "throttled", "busy", "limit"] as const;
    const growth = "rate" in recover ? `rate ${recover.rate}` : `value ${recover.value}`;
    return {
      rows,
      verdict: {
        converged: convergedAt !== undefined,
        time: convergedAt ?? null,
        speed: speed ?? null,
      },
      columns: columns.map((name) => ({ name, cell: (row) => String(rows[row]?.[name]) })),
      closing:
        convergedAt === undefined
          ? "failed to converge"
          : `converged at time=${convergedAt}, speed=${speed}`,
      chart: () => ({
        title: title || "Busy throttle",
        subtitle: `rule ${rule}, recover ${growth}; busy until second ${BUSY_UNTIL}`,
        x: { label: "time", unit: "s" },
        y: {
          label: "requests",
          unit: "per second",
          // The limit starts far above any traffic; what matters is where it meets it.
          max: 1.2 * Math.max(...rows.map(({ rps, throttled }) => rps + throttled), 1),
        },
        series: [
          { label: "sent", shape: "bar", points: points(rows, "rps") },
          { label: "busy", shape: "bar", points: points(rows, "busy") },
          { label: "throttled", shape: "step", points: points(rows, "throttled") },
          { label: "limit", shape: "step", points: points(rows, "limit") },
        ],
      }),
    };
  },
);

function recovery(): v.GenericSchema<unknown, Recovery> {
  const either = field<never>(() => false, "{ rate: 3 } or { value: 200 }");
  return v.lazy((value): v.GenericSchema<unknown, Recovery> => {
    if (typeof value !== "object" || value === null) return either;
    if ("rate" in value) return map({ rate: real(0, LIMIT_MAX) });
    return "value" in value ? map({ value: real(0, LIMIT_MAX) }) : either;
  });
}

/** Open loop, as the document simulates: so many busy answers come whatever is sent. */
function simulate(
  next: BusyRule,
  offered: Traffic,
  busyAnswers: Traffic,
): { rows: BusyRow[]; convergedAt: number | undefined } {
  const rows: BusyRow[] = [];
  let limit: number = LIMIT_MAX;
  let throttled = 0;
  for (let time = 1; time <= BUSY_UNTIL; time++) {
    const sent = Math.floor(Math.min(offered(time), limit));
    const busy = Math.min(busyAnswers(time), sent);
    throttled = offered(time) - sent;
    rows.push(truncated({ time, rps: sent, throttled, busy, limit }));
    limit = next(limit, { sent, busy }).limit;
  }
  let time = RECOVERY_BASE;
  while (throttled !== 0 && time <= RECOVERY_UNTIL) {
    time++;
    // Not rounded here, unlike before: so the tables count.
    const sent = Math.min(offered(time), limit);
    throttled = offered(time) - sent;
    rows.push(truncated({ time, rps: sent, throttled, busy: 0, limit }));
    limit = next(limit, { sent, busy: 0 }).limit;
  }
  return { rows, convergedAt: time <= RECOVERY_UNTIL ? time : undefined };
}

/** Every number as the document prints it. */
function truncated(row: BusyRow): BusyRow {
  return {
    time: row.time,
    rps: Math.trunc(row.rps),
    throttled: Math.trunc(row.throttled),
    busy: Math.trunc(row.busy),
    limit: Math.trunc(row.limit),
  };
}

function points(rows: readonly BusyRow[], key: keyof BusyRow): { x: number; y: number }[] {
  return rows.map((row) => ({ x: row.time, y: row[key] }));
}
