import { ConfigError } from "@sluice/core";
import { checkTiming, DEFAULT_TIMING } from "@sluice/fleet/sim";
import type { Timing } from "@sluice/fleet/sim";
import * as v from "valibot";
import { rounded, runPool, steadyNetwork } from "../pool/pool-run.ts";
import type { PoolRow, PoolRunResult } from "../pool/pool-run.ts";
import type { Panel, Series } from "../chart/chart.ts";
import { map, milliseconds, oneOf, real, whole } from "../scenario/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Kind, Problem, Run } from "../scenario/kind.ts";
import { MAX_SECONDS, poolEvents, problemsOfEvents } from "./pool-events.ts";
import { rateLimit } from "./rate-limit.ts";

const MAX_MEMBERS = 10_000;
/** Shares in all rows together. More take gigabytes to hold and to print. */
const MAX_SHARES = 5_000_000;
/** Lines in one panel, at most: more cannot be told apart. */
const LINES_MAX = 8;

const SECOND_MS = 1000;
const { syncIntervalMs, leaseMs, staleMs, timeoutMs } = DEFAULT_TIMING;
const DEFAULTS = {
  ...DEFAULT_TIMING,
  maxMembers: 64,
  onStoreLoss: "safe-share",
  joinOn: "agreement",
  latencyMs: 1,
} as const;

/** What a run of a pool comes to. Sums are parts of the ceiling; null: that never was. */
interface Stats {
  readonly maxSumRatio: number;
  readonly maxWindowRatio: number;
  readonly minSumRatio: number | null;
  readonly meanSumRatio: number | null;
  readonly joinerWaitS: number | null;
  readonly settledAfterS: readonly (number | null)[];
}

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
    const subtitle = `${ramp.min} to ${ramp.max} tokens a second, ${pacing}, shares ${shares}`;
    return toRun(result, scenario.title || "Pool", subtitle);
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

function statsOf({ figures, settledAfterMs }: PoolRunResult): Stats {
  const { most, mostGranted, least, mean, waitMs } = figures;
  return {
    maxSumRatio: rounded(most),
    maxWindowRatio: rounded(mostGranted),
    minSumRatio: least === undefined ? null : rounded(least),
    meanSumRatio: mean === undefined ? null : rounded(mean),
    joinerWaitS: Number.isFinite(waitMs) ? rounded(waitMs / SECOND_MS) : null,
    settledAfterS: settledAfterMs.map((ms) => (ms === undefined ? null : rounded(ms / SECOND_MS))),
  };
}

function toRun(result: PoolRunResult, title: string, subtitle: string): Run {
  const { rows } = result;
  const stats = statsOf(result);
  return {
    rows,
    stats,
    columns: [
      { name: "t", cell: (row) => String(rows[row]?.t) },
      { name: "live", cell: (row) => String(rows[row]?.live) },
      { name: "sum", cell: (row) => String(rows[row]?.sum) },
      { name: "share (size)", cell: (row) => sharesOf(rows[row]) },
    ],
    closing: closingOf(stats),
    chart: () => ({
      title,
      subtitle,
      x: { label: "time", unit: "s" },
      y: { label: "tokens", unit: "per second" },
      series: [
        { label: "granted", shape: "bar", points: grantedPoints(result) },
        {
          label: "sum of shares",
          shape: "step",
          points: rows.map(({ t, sum }) => ({ x: t, y: sum })),
        },
        {
          label: "ceiling",
          shape: "step",
          points: rows.map(({ t }, row) => ({ x: t, y: result.ceilings[row] })),
        },
      ],
      below: [sharesPanel(rows), sizesPanel(rows)],
    }),
  };
}

function sharesOf(row: PoolRow | undefined): string {
  const members = Object.entries(row?.members ?? {});
  return members.map(([name, { size, share }]) => `${name} ${share} (${size})`).join("  ");
}

/** Row n + 1 holds what was granted after row n. */
function grantedPoints({ rows, granted }: PoolRunResult): { x: number; y: number | undefined }[] {
  return rows.slice(0, -1).map(({ t }, row) => ({ x: t, y: granted[row + 1] }));
}

function sharesPanel(rows: readonly PoolRow[]): Panel {
  const names = [...new Set(rows.flatMap(({ members }) => Object.keys(members)))];
  const line = (name: string): Series => ({
    label: name,
    shape: "step",
    points: rows.map(({ t, members }) => ({ x: t, y: members[name]?.share })),
  });
  return {
    y: { label: "share", unit: "tokens per second" },
    series:
      names.length <= LINES_MAX
        ? names.map(line)
        : [extreme("largest share", rows, "share", Math.max)],
  };
}

function sizesPanel(rows: readonly PoolRow[]): Panel {
  return {
    y: { label: "members" },
    series: [
      extreme("largest size in use", rows, "size", Math.max),
      { label: "live", shape: "step", points: rows.map(({ t, live }) => ({ x: t, y: live })) },
    ],
  };
}

function extreme(
  label: string,
  rows: readonly PoolRow[],
  key: "size" | "share",
  pick: (...values: number[]) => number,
): Series {
  const points = rows.map(({ t, members }) => ({
    x: t,
    y: pick(0, ...Object.values(members).map((member) => member[key])),
  }));
  return { label, shape: "step", points };
}

function closingOf(stats: Stats): string {
  const { maxSumRatio, maxWindowRatio, settledAfterS } = stats;
  const settled = settledAfterS.map((each) => each?.toFixed(1) ?? "–");
  return [
    `at most ${maxSumRatio.toFixed(3)} of the ceiling at any instant, ${maxWindowRatio.toFixed(3)} granted in any second`,
    sinceWhole(stats),
    `settled after each event, in seconds (–: not before the next event): ${settled.join(" ") || "none"}`,
  ].join("\n");
}

function sinceWhole({ minSumRatio, meanSumRatio, joinerWaitS }: Stats): string {
  if (minSumRatio === null || meanSumRatio === null)
    return "the shares were never the whole ceiling";
  const wait =
    joinerWaitS === null
      ? "a joiner still waits for its share"
      : `joiners waited for their share for ${joinerWaitS.toFixed(1)} s at most`;
  return `since the shares first were the whole ceiling: at least ${minSumRatio.toFixed(3)} of it, ${meanSumRatio.toFixed(3)} on average; ${wait}`;
}
