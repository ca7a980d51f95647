import { createBusyThrottle, DOCUMENT_LIMIT_MAX } from "@sluice/core";
import type { BusyRule } from "@sluice/core";
import * as v from "valibot";
import type { Point } from "../chart/chart.ts";
import { EventLoop } from "../sim/event-loop.ts";
import { oneOf } from "../scenario/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Kind, Problem, Run } from "../scenario/kind.ts";
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

/** Seconds of the document's simulation: the last busy one, and the last to recover in. */
const BUSY_UNTIL = 9;
const RECOVERY_UNTIL = 30;
/** Left out between the two; the speed of a recovery is counted from here. */
const RECOVERY_BASE = 10;

/** With rule sluice: requests in a run, and the time from each to its answer. */
const MAX_REQUESTS = 50_000_000;
const RESPONSE_MS = 50;
const SECOND_MS = 1000;

interface Outcome {
  readonly rows: BusyRow[];
  /** Undefined if it did not recover in time. */
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
      columns: columns.map((name) => ({
        name,
        cell: (row) => String(rows[row]?.[name] ?? "none"),
      })),
      closing:
        convergedAt === undefined
          ? "failed to converge"
          : `converged at time=${convergedAt}, speed=${speed}`,
      chart: () => ({
        title: title || "Busy throttle",
        subtitle: `${settings}; busy until second ${BUSY_UNTIL}`,
        x: { label: "time", unit: "s" },
        y: {
          label: "requests",
          unit: "per second",
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
  ({ rule, recover, offered }) => [
    ...problemsOfRecovery(rule, recover),
    ...(rule === "sluice" ? problemsOfSize(offered) : []),
  ],
);

function growthOf(recover: RecoverySetting): string {
  return Object.entries(recover).flat().join(" ");
}

/** The rule of ours sees every single request. */
function problemsOfSize(offered: Traffic): Problem[] {
  let requests = 0;
  for (let time = 1; time <= RECOVERY_UNTIL + 1; time++) requests += offered(time);
  if (requests <= MAX_REQUESTS) return [];
  const message = `comes to ${requests} requests; at most ${MAX_REQUESTS} are run with rule sluice`;
  return [{ path: ["offered"], message, isMissing: false }];
}

/** Open loop, as the document simulates: so many busy answers come whatever is sent. */
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
    // Not rounded here, unlike before: so the tables count.
    const sent = Math.min(offered(time), limit);
    throttled = offered(time) - sent;
    rows.push(truncated({ time, rps: sent, throttled, busy: 0, limit }));
    limit = next(limit, { sent, busy: 0 }).limit ?? DOCUMENT_LIMIT_MAX;
  }
  return { rows, convergedAt: time <= RECOVERY_UNTIL ? time : undefined };
}

/**
 * The same for a throttle that sees requests, not seconds: they are spread over their second, the
 * first of each are those that get the busy answers, and answers come after 50 ms.
 */
function simulateRequests(offered: Traffic, busyAnswers: Traffic): Outcome {
  const rows: BusyRow[] = [];
  const loop = new EventLoop({ timerQuantumMs: 0 });
  const throttle = createBusyThrottle({ clock: loop });
  const play = (time: number, busyMax: number): number => {
    const fromMs = rows.length * SECOND_MS;
    const untilMs = fromMs + SECOND_MS;
    let limit: number | undefined;
    // After the answers that come at this very instant, and before the first request of the second.
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
        // Nothing is decided between instants.
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

/** Where nothing is limited, the limit has a gap. */
function points(rows: readonly BusyRow[], key: keyof BusyRow): Point[] {
  return rows.map((row) => {
    const y = row[key];
    return { x: row.time, y: y === null || y === DOCUMENT_LIMIT_MAX ? undefined : y };
  });
}
