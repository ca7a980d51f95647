import { createBusyThrottle } from "@sluice/core";
import { DOCUMENT_LIMIT_MAX, SECOND_MS } from "@sluice/core/internal";
import type { BusyRule } from "@sluice/core/internal";
import * as v from "valibot";
import { EventLoop } from "../simulation/engine/event-loop.ts";
import type { Point } from "../chart/chart.ts";
import { oneOf } from "../file/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Problem } from "../file/problem.ts";
import type { Kind, Run } from "../scenario/kind.ts";
import { busyRuleOf, problemsOfRecovery, recovery } from "./recovery.ts";
import type { RecoverySetting } from "./recovery.ts";
import { busyShape, trafficShape } from "./traffic.ts";
import type { Traffic } from "./traffic.ts";

interface BusyRow {
  readonly time: number;
  readonly rps: number;
  readonly throttled: number;
  readonly busy: number;
  /** Null: none. The document prints 9999999 instead, and so do its rules. */
  readonly limit: number | null;
}

/**
 * The document's simulation: busy answers come in seconds 1 to 9, the limit recovers from 11 to 30.
 */
const BUSY_UNTIL = 9;
const RECOVERY_UNTIL = 30;
/** The document skips this second and counts the speed of a recovery from it. */
const RECOVERY_BASE = 10;

/** With rule sluice: most requests in a run, and the time from each to its answer. */
const MAX_REQUESTS = 50_000_000;
const RESPONSE_MS = 50;
interface Outcome {
  readonly rows: BusyRow[];
  /** Undefined if something was still throttled in second 30. */
  readonly convergedAt: number | undefined;
}

export const busyKind: Kind = defineKind(
  {
    rule: oneOf("table", "prose", "sluice"),
    recover: v.optional(recovery(), { rate: 3 }),
    offered: trafficShape(),
    busy: busyShape(),
  },
  ({ rule, recover, offered, busy, title }): Run => {
    const { rows, convergedAt } =
      rule === "sluice"
        ? simulateRequests(offered, busy)
        : simulateSeconds(busyRuleOf(rule, recover), offered, busy);
    const speed = convergedAt === undefined ? undefined : convergedAt - RECOVERY_BASE;
    const columns = ["time", "rps", "throttled", "busy", "limit"] as const;
    const settings =
      rule === "sluice" ? "rule sluice" : `rule ${rule}, recover ${growthOf(recover)}`;
    return {
      rows,
      verdict: {
        converged: convergedAt !== undefined,
        time: convergedAt ?? null,
        speed: speed ?? null,
      },
      columns: columns.map((name) => ({ name, cell: (row) => cellOf(rows[row], name) })),
      closing:
        convergedAt === undefined
          ? "failed to converge"
          : `converged at time=${convergedAt}, speed=${speed}`,
      chart: () => ({
        title: title || "Busy throttle",
        subtitle: `${settings}; the limit is drawn while there is one`,
        x: { label: "time", unit: "s" },
        y: {
          label: "requests",
          unit: "per second",
          // A limit recovers far beyond the traffic; what matters is where the two meet.
          max: 1.2 * Math.max(...rows.map(({ rps, throttled }) => rps + throttled), 1),
        },
        series: [
          { label: "sent", shape: "bar", points: points(rows, "rps") },
          { label: "busy", shape: "bar", points: points(rows, "busy") },
          { label: "throttled", shape: "step", points: points(rows, "throttled") },
          { label: "limit", shape: "step", points: points(rows, "limit") },
        ],
        markers: [{ x: BUSY_UNTIL + 1, label: "no busy answers from here" }],
      }),
    };
  },
  ({ rule, recover, offered }) => [
    ...problemsOfRecovery(rule, recover),
    ...(rule === "sluice" ? problemsOfSize(offered) : []),
  ],
);

function growthOf(recover: RecoverySetting): string {
  return Object.entries(recover).flat().join(" ");
}

/** Rule sluice sees every single request, so their number is bounded. */
function problemsOfSize(offered: Traffic): Problem[] {
  let requests = 0;
  for (let time = 1; time <= RECOVERY_UNTIL + 1; time++) requests += offered(time);
  if (requests <= MAX_REQUESTS) return [];
  const message = `comes to ${requests} requests; at most ${MAX_REQUESTS} are run with rule sluice`;
  return [{ path: ["offered"], message, isMissing: false }];
}

/** The document's open loop: the number of busy answers does not depend on what was sent before. */
function simulateSeconds(next: BusyRule, offered: Traffic, busyAnswers: Traffic): Outcome {
  const rows: BusyRow[] = [];
  let limit: number = DOCUMENT_LIMIT_MAX;
  let throttled = 0;
  for (let time = 1; time <= BUSY_UNTIL; time++) {
    const sent = Math.floor(Math.min(offered(time), limit));
    const busy = Math.min(busyAnswers(time), sent);
    throttled = offered(time) - sent;
    rows.push(truncated({ time, rps: sent, throttled, busy, limit }));
    limit = next(limit, { sent, busy }).limit ?? DOCUMENT_LIMIT_MAX;
  }
  let time = RECOVERY_BASE;
  while (throttled !== 0 && time <= RECOVERY_UNTIL) {
    time++;
    // Not rounded, unlike in the loop above: the document's tables come out only this way.
    const sent = Math.min(offered(time), limit);
    throttled = offered(time) - sent;
    rows.push(truncated({ time, rps: sent, throttled, busy: 0, limit }));
    limit = next(limit, { sent, busy: 0 }).limit ?? DOCUMENT_LIMIT_MAX;
  }
  return { rows, convergedAt: time <= RECOVERY_UNTIL ? time : undefined };
}

/**
 * The same for a throttle that sees requests instead of seconds: requests are spread evenly over
 * their second, the first of each second get the busy answers, and answers come after 50 ms.
 */
function simulateRequests(offered: Traffic, busyAnswers: Traffic): Outcome {
  const rows: BusyRow[] = [];
  const loop = new EventLoop({ timerQuantumMs: 0 });
  const throttle = createBusyThrottle({ clock: loop });
  const play = (time: number, busyMax: number): number => {
    const fromMs = rows.length * SECOND_MS;
    const untilMs = fromMs + SECOND_MS;
    let limit: number | undefined;
    // Runs after the answers due at this instant, and before the first request of the second.
    loop.at(fromMs, () => {
      ({ limit } = throttle.state(fromMs));
    });
    const requests = Math.floor(offered(time));
    let sent = 0;
    let busy = 0;
    for (let i = 0; i < requests; i++) {
      loop.at(fromMs + (SECOND_MS * i) / requests, () => {
        const sentAtMs = loop.now();
        if (!throttle.trySend(sentAtMs)) return;
        sent++;
        const isBusy = busy + 1 <= busyMax;
        if (isBusy) busy++;
        loop.after(RESPONSE_MS, () => throttle.onAnswer(sentAtMs, isBusy, loop.now()));
      });
    }
    loop.run(
      untilMs,
      () => {
        // Only events change anything.
      },
      () => false,
    );
    rows.push(
      truncated({ time, rps: sent, throttled: requests - sent, busy, limit: limit ?? null }),
    );
    return requests - sent;
  };
  let throttled = 0;
  for (let time = 1; time <= BUSY_UNTIL; time++) throttled = play(time, busyAnswers(time));
  let time = RECOVERY_BASE;
  while (throttled !== 0 && time <= RECOVERY_UNTIL) {
    time++;
    throttled = play(time, 0);
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
    limit: row.limit === null ? null : Math.trunc(row.limit),
  };
}

/** Null, or 9,999,999 as the document prints it: nothing is limited. */
function isNoLimit(key: keyof BusyRow, value: number | null): boolean {
  return value === null || (key === "limit" && value >= DOCUMENT_LIMIT_MAX);
}

function cellOf(row: BusyRow | undefined, key: keyof BusyRow): string {
  const value = row === undefined ? 0 : row[key];
  return isNoLimit(key, value) ? "no limit" : String(value);
}

/** Where nothing is limited, the limit has a gap. */
function points(rows: readonly BusyRow[], key: keyof BusyRow): Point[] {
  return rows.map((row) => {
    const y = row[key];
    return { x: row.time, y: y === null || isNoLimit(key, y) ? undefined : y };
  });
}
