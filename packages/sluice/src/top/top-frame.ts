import { bytesText, countText, durationText, perSecondText } from "@sluice/gateway/internal";
import { sentenceOf, untilOf } from "../why/sentences.ts";
import {
  failedSentence,
  vertexSentence,
  vertexSetting,
  vertexUntil,
} from "../why/vertex-sentences.ts";
import { wrapped } from "../why/wrapped.ts";
import type { TopHistory } from "./history.ts";
import type { TopSnapshot } from "./state-answer.ts";
import { localName, topRows } from "./top-rows.ts";
import type { TopRow } from "./top-rows.ts";

export interface FrameOptions {
  readonly columns: number;
  readonly rows: number;
  readonly isColoured: boolean;
  /** Local time, "14:32:08". */
  readonly time: string;
  /** Which of the waits is explained, from 0; beyond the last it begins again. */
  readonly whyIndex: number;
}

/** Narrower terminals get lines of this width, cut by the terminal. */
const WIDTH_MIN = 60;
/** Characters of the table without the name. */
const FIXED = 86;
const HISTORY = 9;
const NAME_MIN = 10;
const BAR = 10;
const PRODUCERS_MAX = 8;
const POOLS_MAX = 4;

/** One frame: at most `rows` lines of at most `columns` characters. */
export function topFrame(
  snapshot: TopSnapshot,
  history: TopHistory,
  options: FrameOptions,
): readonly string[] {
  const width = Math.max(WIDTH_MIN, options.columns);
  const paint = painter(options.isColoured);
  const rows = topRows(snapshot);
  const rule = paint("dim", "─".repeat(width));
  const foot = [rule, ...whyLines(snapshot, options.whyIndex, width, paint)];
  const body = [
    cut(summaryOf(rows), width),
    "",
    ...tableLines(rows, history, width, paint),
    ...producerLines(snapshot, width),
    ...fleetLines(snapshot, width),
  ];
  const room = Math.max(3, options.rows - 2 - foot.length);
  const shown = body.length > room ? [...body.slice(0, room - 1), "…"] : body;
  const head = spread("sluice top", `${options.time}   w next why   q quit`, width);
  return [head, rule, ...shown, ...foot].slice(0, Math.max(1, options.rows));
}

type Style = "dim" | "warn" | "bad" | "bold";
type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, string>> = { dim: "2", warn: "33", bad: "31", bold: "1" };

function painter(isColoured: boolean): Paint {
  return (style, text) => (isColoured ? `\u001B[${CODES[style]}m${text}\u001B[0m` : text);
}

/** "6,045/s come in, 210/s reach out. 4 things wait; the longest is orders." */
function summaryOf(rows: readonly TopRow[]): string {
  const [first] = rows;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) return "Nothing runs.";
  const reach =
    last === first || !last.key.startsWith("vertex ")
      ? ""
      : `, ${perSecondText(round(last.perSecond))} reach ${last.name}`;
  const waiting = rows.filter(({ state }) => state === "throttled" || state === "failed");
  const [longest] = waiting.toSorted((a, b) => (b.forMs ?? 0) - (a.forMs ?? 0));
  const count = waiting.length === 1 ? "1 thing waits" : `${waiting.length} things wait`;
  const end =
    longest === undefined ? "Nothing waits." : `${count}; the longest is ${longest.name}.`;
  return `${perSecondText(round(first.perSecond))} come in${reach}. ${end}`;
}

const STATES: Readonly<Record<TopRow["state"], readonly [string, Style | undefined]>> = {
  flowing: ["≈ flowing", undefined],
  throttled: ["▥ throttled", "warn"],
  waiting: ["▹ waiting", "dim"],
  failed: ["✗ failed", "bad"],
  stopped: ["■ stopped", "dim"],
};

function* tableLines(
  rows: readonly TopRow[],
  history: TopHistory,
  width: number,
  paint: Paint,
): Generator<string> {
  const names = Math.max(NAME_MIN, width - FIXED);
  const line = (name: string, cells: Cells): string =>
    [
      cut(name, names - 1).padEnd(names),
      cells.rate.padStart(8),
      cells.limit.padStart(10),
      `  ${cells.use}`.padEnd(18),
      cells.queue.padStart(6),
      `  ${cells.state}`.padEnd(14),
      cells.reason.padEnd(12),
      cells.waited.padStart(7),
      `  ${cells.history}`,
    ]
      .join("")
      .slice(0, width)
      .trimEnd();
  yield paint("bold", line("PATH", HEADS));
  for (const row of rows) {
    const [state, style] = STATES[row.state];
    const text = line(" ".repeat(row.indent) + row.name, {
      rate: perSecondText(round(row.perSecond)),
      limit: row.limit,
      use: useText(row.use),
      queue: row.queue === undefined ? "" : countText(row.queue),
      state,
      reason: row.reason,
      waited: row.forMs === undefined ? "" : shortDuration(row.forMs),
      history: history.bars(row.key, HISTORY),
    });
    yield style === undefined ? text : paint(style, text);
  }
}

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

/** "██████████| 100 %". */
function useText(use: number | undefined): string {
  if (use === undefined) return "";
  const part = Math.min(1, Math.max(0, use));
  const full = Math.round(part * BAR);
  const percent = String(Math.round(part * 100)).padStart(3);
  return `${"█".repeat(full)}${"·".repeat(BAR - full)}|${percent} %`;
}

function* producerLines({ why }: TopSnapshot, width: number): Generator<string> {
  const producers = why.waiting.flatMap(({ topic, turn, producers: waiting }) =>
    waiting.map((producer) => ({ ...producer, topic, turn })),
  );
  if (producers.length === 0) return;
  yield "";
  yield cut("PRODUCERS       TOPIC          ASKS FOR       GETS    HELD  HOW", width);
  for (const producer of producers.slice(0, PRODUCERS_MAX)) {
    const { name, topic, asked, turn, heldFrames, heldBytes, told } = producer;
    const wait = told === undefined ? "" : `told to wait ${durationText(told.pauseMs)}`;
    const cells = [
      cut(name, 15).padEnd(16),
      cut(localName(topic), 13).padEnd(14),
      (asked === undefined ? "" : perSecondText(asked)).padStart(9),
      (turn === undefined ? "" : perSecondText(turn)).padStart(11),
      countText(heldFrames).padStart(8),
      `  ${heldFrames > 0 ? `held, ${bytesText(heldBytes)}` : wait}`,
    ];
    yield cells.join("").slice(0, width).trimEnd();
  }
}

function* fleetLines({ state }: TopSnapshot, width: number): Generator<string> {
  const pools = (state.pipelines ?? []).flatMap(({ name, vertices }) =>
    vertices.flatMap(({ name: vertex, rateLimit }) =>
      typeof rateLimit?.members === "number" ? [{ pool: `${name}/${vertex}`, ...rateLimit }] : [],
    ),
  );
  if (pools.length > 0) yield "";
  for (const [index, { pool, members, ceiling, share, storeAgeMs }] of pools
    .slice(0, POOLS_MAX)
    .entries()) {
    const text = [
      (index === 0 ? "FLEET" : "").padEnd(12),
      `${pool}: ${members} ${members === 1 ? "member" : "members"}`,
      ceiling === null ? "" : `   ceiling ${perSecondText(round(ceiling))}`,
      share === null ? "" : `, this member ${perSecondText(round(share))}`,
      storeAgeMs === null ? "" : `   store answered ${durationText(storeAgeMs)} ago`,
    ].join("");
    yield text.slice(0, width);
  }
}

/** One of the waits, in sentences. */
function whyLines(
  { why }: TopSnapshot,
  index: number,
  width: number,
  paint: Paint,
): readonly string[] {
  const { vertices = [], failed = [] } = why.pipelines ?? {};
  const all = [
    ...failed.map((one) => ({ reason: "failed", sentence: failedSentence(one) })),
    ...why.waiting.map((one) => ({
      reason: one.reason,
      sentence: sentenceOf(one),
      until: untilOf(one),
      setting: one.setting.path,
    })),
    ...vertices.map((one) => ({
      reason: one.reason,
      sentence: vertexSentence(one),
      until: vertexUntil(one),
      setting: vertexSetting(one),
    })),
  ] as readonly WhyText[];
  const shown = all[index % Math.max(1, all.length)];
  if (shown === undefined) return [];
  const { reason, sentence, until, setting } = shown;
  const text = [
    `▥ ${reason} `,
    sentence,
    ...(until === undefined ? [] : [`Until ${until}.`]),
    ...(setting === undefined ? [] : [`Setting: ${setting}`]),
  ].join(" ");
  const lead = `WHY ${(index % all.length) + 1} of ${all.length}`.padEnd(12);
  const room = width - lead.length;
  return wrapped(text, room).map(
    (line, row) => (row === 0 ? paint("bold", lead) : " ".repeat(lead.length)) + cut(line, room),
  );
}

interface WhyText {
  readonly reason: string;
  readonly sentence: string;
  readonly until?: string | undefined;
  readonly setting?: string | undefined;
}

function spread(left: string, right: string, width: number): string {
  return `${left}${" ".repeat(Math.max(1, width - left.length - right.length))}${right}`;
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** One decimal below 10. */
function round(value: number): number {
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
