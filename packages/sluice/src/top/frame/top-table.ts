import { countText, durationText, perSecondText } from "@sluice/gateway/internal";
import type { TopHistory } from "./history.ts";
import { cut } from "../../why/cut.ts";
import type { Paint, Style } from "../terminal/paint.ts";
import type { TopRow } from "../rows/top-rows.ts";

/** Bars of the last minute, and the most that a wide terminal shows. */
const HISTORY = 9;
const HISTORY_MAX = 30;
/** The bar of the used part at its widest, and at its narrowest; without room for that, only the percentage. */
const BAR_MAX = 10;
const BAR_MIN = 4;
/** "  " and "100 %". */
const PERCENT = 7;
const NAME_MIN = 12;
const NAME_MAX = 24;
/** Characters of rate, limit, queue, state, reason and time. */
const FIXED = 8 + 10 + 7 + 13 + 13 + 7;

const STATES: Readonly<Record<TopRow["state"], readonly [string, Style | undefined]>> = {
  flowing: ["≈ flowing", undefined],
  throttled: ["▥ throttled", "warn"],
  waiting: ["▹ waiting", "dim"],
  working: ["▹ working", "warn"],
  answering: ["≈ answering", undefined],
  busy: ["▼ busy", "warn"],
  failing: ["✗ failing", "bad"],
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
  const { names, use, bars } = columnsOf(rows, width);
  const line = (name: string, cells: Cells): string =>
    [
      cut(name, names - 1).padEnd(names),
      cells.rate.padStart(8),
      cells.limit.padStart(10),
      `  ${cells.use}`.padEnd(use),
      cells.queue.padStart(7),
      `  ${cells.state}`.padEnd(13),
      ` ${cut(cells.reason, 12)}`.padEnd(13),
      cells.waited.padStart(7),
      bars === 0 ? "" : `  ${cells.history}`,
    ]
      .join("")
      .slice(0, width)
      .trimEnd();
  return [
    paint("bold", line("PATH", HEADS)),
    ...rows.map((row) => {
      const [state, style] = STATES[row.state];
      const isChosen = row.key === selected;
      // Without colours the chosen row has a mark.
      const mark = isChosen && paint("chosen", "") === "" ? "▸" : "";
      const text = line(`${mark}${" ".repeat(row.indent)}${row.name}`, {
        rate: perSecondText(rounded(row.perSecond)),
        limit: row.limit,
        use: useText(row.use, use - PERCENT),
        queue: row.queue === undefined ? "" : countText(row.queue),
        state,
        reason: row.reason,
        waited: row.forMs === undefined ? "" : shortDuration(row.forMs),
        history: history.bars(row.key, Math.max(1, bars)),
      });
      if (isChosen) return paint("chosen", text.padEnd(width));
      return style === undefined ? text : paint(style, text);
    }),
  ];
}

/** How wide the columns are: names as long as the longest, then the history, then the bar take what is left. */
function columnsOf(
  rows: readonly TopRow[],
  width: number,
): { readonly names: number; readonly use: number; readonly bars: number } {
  const longest = Math.max(0, ...rows.map(({ name, indent }) => name.length + indent + 1));
  const wanted = Math.min(NAME_MAX, Math.max(NAME_MIN, longest));
  const names = Math.max(NAME_MIN, Math.min(wanted, width - FIXED - PERCENT));
  const left = width - FIXED - names - PERCENT;
  const hasHistory = left >= HISTORY + 2;
  const bar = Math.min(BAR_MAX, left - (hasHistory ? HISTORY + 2 : 0) - 2);
  const use = PERCENT + (bar < BAR_MIN ? 0 : bar + 2);
  const bars = hasHistory ? Math.min(HISTORY_MAX, width - FIXED - names - use - 2) : 0;
  return { names, use, bars };
}

/** "██████████| 100 %" in `room` characters beside the percentage, or "100 %". */
function useText(use: number | undefined, room: number): string {
  if (use === undefined) return "";
  const part = Math.min(1, Math.max(0, use));
  const percent = `${String(Math.round(part * 100)).padStart(3)} %`;
  if (room <= 0) return percent;
  const bar = room - 2;
  const full = Math.round(part * bar);
  return `${"█".repeat(full)}${"·".repeat(bar - full)}| ${percent}`;
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
