import type { RampOptions } from "@sluice/core";
import type { Point } from "../../chart/chart.ts";
import type { LockstepOptions } from "../../ramp/lockstep-pool.ts";
import { offeredStats, runOffered } from "../../ramp/offered.ts";
import type { OfferedRow, OfferedStats } from "../../ramp/offered.ts";
import { counted, percent } from "../../report/words.ts";
import type { Run } from "../../scenario/kind.ts";
import { rangeOf } from "../rate-limit.ts";

const COLUMNS = ["t", "offered", "ceiling", "used", "waiting"] as const;

/** The run of a ramp scenario that says what comes each second instead of who calls when. */
export function rampOfOffered(
  scenario: LockstepOptions & { readonly title: string },
  offered: readonly number[],
): Run {
  const rows = runOffered(scenario, offered);
  const stats = offeredStats(rows, scenario.rateLimit.max);
  const points = (key: (typeof COLUMNS)[number]): Point[] =>
    rows.map((row) => ({ x: row.t, y: row[key] }));
  return {
    rows,
    stats,
    columns: COLUMNS.map((name) => ({ name, cell: (row) => cell(rows[row], name) })),
    closing: closingOf(stats),
    chart: () => ({
      title: scenario.title || "Ramp",
      subtitle: subtitleOf(scenario),
      x: { label: "time", unit: "s" },
      y: { label: "messages", unit: "per second" },
      series: [
        { label: "used", shape: "bar", points: points("used") },
        { label: "ceiling", shape: "step", points: points("ceiling") },
        { label: "asked", shape: "step", points: points("offered") },
      ],
      below: [
        {
          y: { label: "waiting", unit: "messages" },
          series: [{ label: "waiting", shape: "line", points: points("waiting") }],
        },
      ],
    }),
  };
}

/** `10 to 110 tokens a second, mode relaxed, 2 members`. */
export function subtitleOf({
  rateLimit,
  members,
}: {
  readonly rateLimit: RampOptions;
  readonly members: number;
}): string {
  return `${rangeOf(rateLimit)}, mode ${rateLimit.mode.kind}, ${counted(members, "member")}`;
}

function cell(row: OfferedRow | undefined, key: (typeof COLUMNS)[number]): string {
  return row === undefined ? "" : String(row[key]);
}

function closingOf({ used, left, longestWaitS, unusedRatio }: OfferedStats): string {
  const rest = left === 0 ? "none waits at the end" : `${left} wait at the end`;
  return `${used} messages let through, ${rest}; the longest wait ${longestWaitS.toFixed(1)} s; ${percent(unusedRatio)} of what was granted went back`;
}
