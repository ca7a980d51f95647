import { perSecondText } from "@sluice/gateway/internal";
import { whyLines } from "../../why/why-lines.ts";
import { wrapped } from "../../why/wrapped.ts";
import type { TopHistory } from "./history.ts";
import { painter, spread } from "../terminal/paint.ts";
import { cut } from "../../why/cut.ts";
import type { Paint } from "../terminal/paint.ts";
import { localName } from "../../why/local-name.ts";
import { fleetLines, producerLines } from "./top-panels.ts";
import { shownRows, topRows, whyNameOf } from "../rows/top-rows.ts";
import type { TopRow } from "../rows/top-rows.ts";
import { selectedOf } from "../top-state.ts";
import type { TopState } from "../top-state.ts";
import type { TopSnapshot } from "../top-snapshot.ts";
import { rounded, tableLines } from "./top-table.ts";
import { waitsOf } from "../rows/top-waits.ts";

export interface FrameOptions {
  readonly columns: number;
  readonly rows: number;
  readonly isColoured: boolean;
  /** Local time, "14:32:08". */
  readonly time: string;
  /** Whether keys are heard: a frame that is printed once names none. */
  readonly isLive: boolean;
}

/** Narrower terminals get lines of this width. */
const WIDTH_MIN = 20;
/** Lines of producers and of the fleet that are worth their place. */
const PANEL_MIN = 4;
/** Lines of the explanation at the foot. */
const WHY_MAX = 5;
/** Lines of the view that are not rows: head, rule, summary, table head, explanation, rule and keys. */
const FRAME_LINES = 12;

/** Rows between two pages. */
export function pageSizeOf(rows: number): number {
  return Math.max(1, rows - FRAME_LINES);
}

/** One frame: at most `rows` lines of at most `columns` characters. */
export function topFrame(
  snapshot: TopSnapshot,
  history: TopHistory,
  state: TopState,
  options: FrameOptions,
): readonly string[] {
  const width = Math.max(WIDTH_MIN, options.columns);
  const paint = painter(options.isColoured);
  const rule = paint("dim", "─".repeat(width));
  const keys = options.isLive ? "every 0.5 s  ? keys  q quit" : "";
  const head = spread(
    `sluice top${memberText(snapshot)}`,
    `${options.time}   ${keys}`.trim(),
    width,
  );
  const frame: Frame = { snapshot, history, state, options, width, paint, rule };
  const { mode } = state;
  const body =
    mode.name === "keys"
      ? KEYS.map((line) => cut(line, width))
      : mode.name === "detail"
        ? detailLines(frame, mode)
        : overviewLines(frame);
  return [head, rule, ...body].slice(0, Math.max(1, options.rows));
}

interface Frame {
  readonly snapshot: TopSnapshot;
  readonly history: TopHistory;
  readonly state: TopState;
  readonly options: FrameOptions;
  readonly width: number;
  readonly paint: Paint;
  readonly rule: string;
}

function overviewLines({ snapshot, history, state, options, width, paint, rule }: Frame): string[] {
  const rows = shownRows(snapshot.sample, state);
  const selected = options.isLive
    ? selectedOf(state, { rows: rows.map(({ key }) => key) })
    : undefined;
  const why = explanation(snapshot, state.whyIndex, width, paint);
  const foot = [
    ...(why.length > 0 ? ["", ...why] : []),
    ...(options.isLive ? [rule, keysLine(state, width, paint)] : []),
  ];
  // The head and its rule, the summary and an empty line.
  const room = Math.max(2, options.rows - 4 - foot.length);
  const [tableHead = "", ...lines] = tableLines(rows, { width, paint, history, selected });
  const index = rows.findIndex(({ key }) => key === selected);
  const table = [tableHead, ...windowOf(lines, index, room - 1)];
  const producers = [...producerLines(snapshot, width)];
  const fleet = [...fleetLines(snapshot, width)];
  const left = Math.max(0, room - table.length);
  const panels = [...fitting(producers, left - fleet.length), ...fleet];
  const shown = panels.length <= left ? panels : [];
  const empty = options.isLive ? Array<string>(left - shown.length).fill("") : [];
  const summary = cut(summaryOf(snapshot, width), width);
  return [summary, "", ...table, ...shown, ...empty, ...foot];
}

/** A panel, shortened if it does not fit; nothing if too little of it would. */
function fitting(lines: readonly string[], room: number): readonly string[] {
  if (lines.length <= room) return lines;
  return room < PANEL_MIN ? [] : [...lines.slice(0, room - 1), " …"];
}

/** At most `room` lines, with the chosen one among them; the last says how many are below. */
function windowOf(lines: readonly string[], index: number, room: number): readonly string[] {
  if (lines.length <= room) return lines;
  const count = Math.max(1, room - 1);
  const start = Math.min(Math.max(0, index - count + 1), lines.length - count);
  const below = lines.length - start - count;
  const more = below === 0 ? ` … ${start} more above` : ` … ${below} more below`;
  return [...lines.slice(start, start + count), ...(room > 1 ? [more] : [])];
}

/** Lines of the open row's answer that do not fit on the terminal; 0 if no row is open. */
export function scrollMaxOf(snapshot: TopSnapshot, state: TopState, size: Size): number {
  if (state.mode.name !== "detail") return 0;
  const { why, room } = detailOf(snapshot, state, state.mode.row, size);
  return Math.max(0, why.length - room);
}

type Size = Pick<FrameOptions, "columns" | "rows">;

/** An open row, the lines of its answer, and how many of them fit. */
function detailOf(
  snapshot: TopSnapshot,
  state: TopState,
  row: string,
  { columns, rows: height }: Size,
): { readonly rows: readonly TopRow[]; readonly why: readonly string[]; readonly room: number } {
  const rows = shownRows(snapshot.sample, { ...state, find: "" }).filter(({ key }) => key === row);
  const name = whyNameOf(row, snapshot.sample);
  const { detail } = snapshot;
  const answer = detail?.name === name ? detail?.answer : undefined;
  const width = Math.max(WIDTH_MIN, columns);
  const why =
    answer === undefined ? ["…"] : [...whyLines(answer, name && localName(name), { width })];
  // The head and its rule, the head of the table, two empty lines, a rule and the keys.
  return { rows, why, room: Math.max(1, height - 2 - (1 + rows.length) - 4) };
}

/** All that is known of one row: its line, and the answer of `sluice why`. */
function detailLines(
  { snapshot, history, state, options, width, paint, rule }: Frame,
  { row, scroll }: { readonly row: string; readonly scroll: number },
): string[] {
  const { rows, why, room } = detailOf(snapshot, state, row, options);
  const table = tableLines(rows, { width, paint, history, selected: undefined });
  const start = Math.max(0, Math.min(scroll, why.length - room));
  const shown = why.slice(start, start + room).map((line) => cut(line, width));
  const more = why.length > start + room ? `↓ ${why.length - start - room} more lines   ` : "";
  return [
    ...table,
    "",
    ...shown,
    ...Array<string>(Math.max(0, room - shown.length)).fill(""),
    rule,
    paint(
      "dim",
      cut(state.notice || `${more}↑↓ scroll   l change a limit   esc back   q quit`, width),
    ),
  ];
}

const KEYS = [
  "",
  " ↑ ↓ or k j        move; page up, page down, home, end too",
  " enter             open a row: the answer of sluice why",
  " w                 explain the next wait, and go to its row",
  " l                 change a limit of the row: type it, then enter",
  " s                 sort: path, heaviest first, longest wait first",
  " /                 find: only rows whose name has the text; esc shows all again",
  " esc               back",
  " q or Ctrl-C       quit",
  "",
  " Any key goes back.",
];

function keysLine({ mode, sort, find, notice }: TopState, width: number, paint: Paint): string {
  if (mode.name === "find") return cut(`find: ${find}▏   enter keeps it, esc shows all`, width);
  if (mode.name === "limit")
    return cut(`sluice limits set ${mode.text}▏   enter sets it, esc leaves it`, width);
  if (notice !== "") return cut(notice, width);
  const found = find === "" ? "/ find" : `/ find: ${find}`;
  return paint(
    "dim",
    cut(`↑↓ move   enter open   w next why   l change a limit   s sort: ${sort}   ${found}`, width),
  );
}

/** The flow, and which member of how many this process is, where it is one. */
function memberText({ hello, sample }: TopSnapshot): string {
  const shares = sample.pipelines.flatMap(({ vertices }) => vertices.map(({ share }) => share));
  const shared = shares.find((share) => share?.syncAgeMs !== undefined);
  return `   ${hello.flow}${shared === undefined ? "" : `, member ${hello.member} of ${shared.members}`}`;
}

/**
 * "6,045/s come in, 210/s reach payments. 4 things wait; the tightest point is orders." In a narrow terminal it ends
 * with "4 things wait; tightest: orders."
 */
function summaryOf({ sample }: TopSnapshot, width: number): string {
  const rows = topRows(sample);
  const [first] = rows;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) return "Nothing runs.";
  const reach =
    last === first || !/^(?:vertex|service) /.test(last.key)
      ? ""
      : `, ${perSecondText(rounded(last.perSecond))} reach ${last.name}`;
  const [tightest] = waitsOf(sample);
  const waits = sample.waits.length + sample.waitsLeftOut;
  const name = rows.find(({ key }) => key === tightest?.row)?.name;
  const count = waits === 1 ? "1 thing waits" : `${waits} things wait`;
  const start = `${perSecondText(rounded(first.perSecond))} come in${reach}. `;
  if (waits === 0) return `${start}Nothing waits.`;
  if (name === undefined) return `${start}${count}.`;
  const whole = `${start}${count}; the tightest point is ${name}.`;
  return whole.length <= width ? whole : `${start}${count}; tightest: ${name}.`;
}

/** One of the waits, in sentences. */
function explanation(
  { sample }: TopSnapshot,
  index: number,
  width: number,
  paint: Paint,
): readonly string[] {
  const all = waitsOf(sample);
  const place = index % Math.max(1, all.length);
  const shown = all[place];
  if (shown === undefined) return [];
  const { reason, sentence, until, setting, command } = shown;
  const text = [
    `▥ ${reason} `,
    sentence,
    ...(until === undefined ? [] : [`Until ${until}.  `]),
    ...(setting === undefined ? [] : [`Setting: ${setting}`]),
  ].join(" ");
  const lead = `WHY ${place + 1} of ${all.length}`.padEnd(12);
  const room = width - lead.length;
  const sentences = wrapped(text, room);
  // The command is what to do, so it stays if the sentences are too long.
  const countMax = command === undefined ? WHY_MAX : WHY_MAX - 1;
  const isCut = sentences.length > countMax;
  const kept = sentences
    .slice(0, countMax)
    .map((line, row) => (isCut && row === countMax - 1 ? `${cut(line, room - 2)} …` : line))
    .concat(command ?? []);
  return kept.map(
    (line, row) => (row === 0 ? paint("bold", lead) : " ".repeat(lead.length)) + cut(line, room),
  );
}
