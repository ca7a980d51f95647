import type { Key } from "./terminal/keys.ts";

/** What is before the user: the table, one row with all that is known of it, a line to type in, or the list of keys. */
type TopMode =
  | { readonly name: "table" }
  /** `scroll`: lines of the answer that are above the first one that is shown. */
  | { readonly name: "detail"; readonly row: string; readonly scroll: number }
  | { readonly name: "find" }
  /** `text`: what `sluice limits set` would get. */
  | { readonly name: "limit"; readonly text: string }
  | { readonly name: "keys" };

const SORTS = ["path", "heaviest", "longest wait"] as const;
type TopSort = (typeof SORTS)[number];

/** All that a user of the view has chosen, in one value. */
export interface TopState {
  readonly mode: TopMode;
  /** The key of a row; undefined: the first. */
  readonly selected: string | undefined;
  /** Which of the waits is explained, from 0. */
  readonly whyIndex: number;
  readonly sort: TopSort;
  /** Only rows whose name has this text; empty: all. */
  readonly find: string;
  /** The answer to the last change of a limit, or why there is none. */
  readonly notice: string;
}

export const TOP_START: TopState = {
  mode: { name: "table" },
  selected: undefined,
  whyIndex: 0,
  sort: "path",
  find: "",
  notice: "",
};

/** What of the last answer a key acts on. */
export interface TopView {
  /** The keys of the rows that are shown, in their order. */
  readonly rows: readonly string[];
  /** The row of each wait, in the order of the explanations. */
  readonly waits: readonly string[];
  /** Rows between two pages. */
  readonly pageSize: number;
  /** The largest `scroll` of the open row that shows another part of its answer. */
  readonly scrollMax: number;
  /** What a limit of a row is set with, such as `topic orders messages=1000/s`; undefined if none can be set. */
  readonly limitOf: (row: string) => string | undefined;
}

/** What a key makes the program do beside drawing. */
export type TopEffect =
  | { readonly kind: "quit" }
  /** What is shown of the administration has changed: ask it now. */
  | { readonly kind: "ask" }
  /** The words of `sluice limits set`. */
  | { readonly kind: "set-limit"; readonly words: readonly string[] };

export interface TopTurn {
  readonly state: TopState;
  readonly effect?: TopEffect;
}

const QUIT: TopEffect = { kind: "quit" };

/** The state after a key, and what is to be done. Changes nothing itself. */
export function onKey(state: TopState, key: Key, view: TopView): TopTurn {
  if (key === "ctrl-c") return { state, effect: QUIT };
  switch (state.mode.name) {
    case "find":
      return { state: typedFind(state, key) };
    case "limit":
      return typedLimit(state, state.mode.text, key);
    case "keys":
      return key === "q" ? { state, effect: QUIT } : { state: inTable(state) };
    case "detail":
      return inDetail(state, state.mode, key, view);
    case "table":
      return onTableKey(state, key, view);
  }
}

function onTableKey(state: TopState, key: Key, view: TopView): TopTurn {
  const selected = selectedOf(state, view);
  switch (key) {
    case "q":
      return { state, effect: QUIT };
    case "?":
      return { state: { ...state, mode: { name: "keys" }, notice: "" } };
    case "/":
      return { state: { ...state, mode: { name: "find" }, find: "", notice: "" } };
    case "escape":
      return { state: { ...state, find: "", notice: "" } };
    case "s": {
      const next = SORTS[(SORTS.indexOf(state.sort) + 1) % SORTS.length] as TopSort;
      return { state: { ...state, sort: next } };
    }
    case "w":
      return { state: nextWhy(state, view) };
    case "enter":
      if (selected === undefined) return { state };
      return {
        state: { ...state, selected, mode: { name: "detail", row: selected, scroll: 0 } },
        effect: { kind: "ask" },
      };
    case "l":
      return { state: beginLimit(state, selected, view) };
    default:
      return { state: moved(state, key, view) };
  }
}

function inDetail(
  state: TopState,
  mode: Extract<TopMode, { name: "detail" }>,
  key: Key,
  view: TopView,
): TopTurn {
  if (key === "q") return { state, effect: QUIT };
  if (key === "escape" || key === "enter" || key === "backspace") return { state: inTable(state) };
  if (key === "l") return { state: beginLimit(state, mode.row, view) };
  const { pageSize, scrollMax } = view;
  const by = stepOf(key, pageSize) ?? 0;
  const scroll = Math.min(scrollMax, Math.max(0, Math.min(scrollMax, mode.scroll) + by));
  return { state: { ...state, mode: { ...mode, scroll } } };
}

/** The row that is chosen, or the first if it is gone. */
export function selectedOf(
  { selected }: TopState,
  { rows }: Pick<TopView, "rows">,
): string | undefined {
  return selected !== undefined && rows.includes(selected) ? selected : rows[0];
}

function moved(state: TopState, key: Key, view: TopView): TopState {
  const by = stepOf(key, view.pageSize);
  const { rows, waits } = view;
  if (by === undefined || rows.length === 0) return state;
  const from = Math.max(0, rows.indexOf(selectedOf(state, view) ?? ""));
  const selected = rows[Math.min(rows.length - 1, Math.max(0, from + by))];
  const wait = selected === undefined ? -1 : waits.indexOf(selected);
  // The wait of the chosen row is the one to explain.
  return { ...state, selected, notice: "", ...(wait >= 0 && { whyIndex: wait }) };
}

function stepOf(key: Key, pageSize: number): number | undefined {
  if (key === "up" || key === "k") return -1;
  if (key === "down" || key === "j") return 1;
  if (key === "page-up") return -pageSize;
  if (key === "page-down") return pageSize;
  if (key === "home") return -Infinity;
  return key === "end" ? Number.MAX_SAFE_INTEGER : undefined;
}

function nextWhy(state: TopState, { waits, rows }: TopView): TopState {
  if (waits.length === 0) return state;
  const whyIndex = (state.whyIndex + 1) % waits.length;
  const row = waits[whyIndex];
  return { ...state, whyIndex, ...(row !== undefined && rows.includes(row) && { selected: row }) };
}

function beginLimit(state: TopState, row: string | undefined, { limitOf }: TopView): TopState {
  const text = row === undefined ? undefined : limitOf(row);
  if (text === undefined) return { ...state, notice: "no limit can be set for this row" };
  return { ...state, mode: { name: "limit", text }, notice: "" };
}

function typedLimit(state: TopState, text: string, key: Key): TopTurn {
  if (key === "escape") return { state: inTable(state) };
  if (key !== "enter")
    return { state: { ...state, mode: { name: "limit", text: typed(text, key) } } };
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return { state: inTable(state) };
  return { state: inTable(state), effect: { kind: "set-limit", words } };
}

/** The table follows while the text is typed. */
function typedFind(state: TopState, key: Key): TopState {
  if (key === "escape") return { ...inTable(state), find: "" };
  if (key === "enter") return inTable(state);
  return { ...state, find: typed(state.find, key) };
}

function typed(text: string, key: Key): string {
  if (key === "backspace") return text.slice(0, -1);
  if (key === "clear") return "";
  return /^.$/u.test(key) ? text + key : text;
}

function inTable(state: TopState): TopState {
  return { ...state, mode: { name: "table" } };
}
