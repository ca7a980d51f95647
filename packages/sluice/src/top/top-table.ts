import { countText, durationText, perSecondText } from "@sluice/gateway/internal";
import type { TopHistory } from "./history.ts";
import { cut } from "./paint.ts";
import type { Paint, Style } from "./paint.ts";
import type { TopRow } from "./top-rows.ts";

/** Bars of the last minute; shown from this width of the terminal on. */
const HISTORY = 9;
const HISTORY_FROM = 96;
/** The bar of the used part; shown from this width on, only its percentage below. */
const BAR = 8;
const BAR_FROM = 86;
const NAME_MIN = 10;
/** Characters of rate, limit, queue, state, reason and time. */
const FIXED = 8 + 10 + 7 + 13 + 12 + 7;

const STATES: Readonly<Record<TopRow["state"], readonly [string, Style | undefined]>> = {
  flowing: ["≈ flowing", undefined],
  throttled: ["▥ throttled", "warn"],
  waiting: ["▹ waiting", "dim"],
  working: ["▹ working", "warn"],
  failed: ["✗ failed", "bad"],
  stopped: ["■ stopped", "dim"],
};

interface Cells {
  readonly rate: string;
  readonly limit: string;
  readonly use: string;
  readonly queue: string;
  readonly state: string;
  readonly reason: string;
  readonly waited: string;
  readonly history: string;
}

const HEADS: Cells = {
  rate: "RATE",
  limit: "LIMIT",
  use: "USE",
  queue: "QUEUE",
  state: "STATE",
  reason: "REASON",
  waited: "FOR",
  history: "LAST 60 s",
};

interface TableOptions {
  readonly width: number;
  readonly paint: Paint;
  readonly history: TopHistory;
  /** The key of the chosen row. */
  readonly selected: string | undefined;
}

/** The head of the table, and a line for each row. */
export function tableLines(
  rows: readonly TopRow[],
  { width, paint, history, selected }: TableOptions,
): readonly string[] {
  const use = width >= BAR_FROM ? BAR + 8 : 7;
  const bars = width >= HISTORY_FROM ? HISTORY + 2 : 0;
  const names = Math.max(NAME_MIN, width - FIXED - use - bars);
  const line = (name: string, cells: Cells): string =>
    [
      cut(name, names - 1).padEnd(names),
      cells.rate.padStart(8),
      cells.limit.padStart(10),
      `  ${cells.use}`.padEnd(use),
      cells.queue.padStart(7),
      `  ${cells.state}`.padEnd(13),
      ` ${cells.reason}`.padEnd(12).slice(0, 12),
      cells.waited.padStart(7),
      bars === 0 ? "" : `  ${cells.history}`,
    ]
      .join("")
      .slice(0, width)
      .trimEnd();
  return [
    paint("bold", line(" PATH", HEADS)),
    ...rows.map((row) => {
      const [state, style] = STATES[row.state];
      const isChosen = row.key === selected;
      const text = line(`${isChosen ? "▸" : " "}${" ".repeat(row.indent)}${row.name}`, {
        rate: perSecondText(rounded(row.perSecond)),
        limit: row.limit,
        use: useText(row.use, use > BAR),
        queue: row.queue === undefined ? "" : countText(row.queue),
        state,
        reason: row.reason,
        waited: row.forMs === undefined ? "" : shortDuration(row.forMs),
        history: history.bars(row.key, HISTORY),
      });
      if (isChosen) return paint("chosen", text);
      return style === undefined ? text : paint(style, text);
    }),
  ];
}

/** "████████|100 %", or "100 %". */
function useText(use: number | undefined, hasBar: boolean): string {
  if (use === undefined) return "";
  const part = Math.min(1, Math.max(0, use));
  const percent = `${String(Math.round(part * 100)).padStart(3)} %`;
  if (!hasBar) return percent;
  const full = Math.round(part * BAR);
  return `${"█".repeat(full)}${"·".repeat(BAR - full)}|${percent}`;
}

/** One decimal below 10. */
export function rounded(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}

/** "1m 12s", "38s", "6.0s", "45ms". */
function shortDuration(ms: number): string {
  return durationText(ms)
    .replace(" min", "m")
    .replace(" ms", "ms")
    .replace(" h", "h")
    .replace(" s", "s");
}
