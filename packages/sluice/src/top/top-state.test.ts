import { expect, test } from "vitest";
import { keysOf } from "./terminal/keys.ts";
import { onKey, selectedOf, TOP_START } from "./top-state.ts";
import type { TopEffect, TopState, TopView } from "./top-state.ts";

const VIEW: TopView = {
  rows: ["broker", "topic a", "topic b", "vertex p/in", "vertex p/out"],
  waits: ["topic b", "vertex p/out"],
  pageSize: 3,
  scrollMax: 5,
  limitOf: (row) => (row === "broker" ? "broker messages=50/s" : undefined),
};

/** The state after what a terminal sends, and the effects of it. */
function sent(
  text: string,
  state: TopState = TOP_START,
): { readonly state: TopState; readonly effects: readonly TopEffect[] } {
  const effects: TopEffect[] = [];
  let now = state;
  for (const key of keysOf(text)) {
    const turn = onKey(now, key, VIEW);
    now = turn.state;
    if (turn.effect !== undefined) effects.push(turn.effect);
  }
  return { state: now, effects };
}

const UP = "\u001B[A";
const DOWN = "\u001B[B";
const ESC = "\u001B";

test.each([
  ["nothing", "", "broker"],
  ["down", DOWN, "topic a"],
  ["down in application mode", "\u001BOB", "topic a"],
  ["j j k", "jjk", "topic a"],
  ["up at the first row", UP, "broker"],
  ["more downs than rows", DOWN.repeat(9), "vertex p/out"],
  ["page down", "\u001B[6~", "vertex p/in"],
  ["end, then page up", "\u001B[F\u001B[5~", "topic a"],
  ["end, then home", "\u001B[F\u001B[H", "broker"],
])("after %s the right row is chosen", (_, keys, row) => {
  expect(selectedOf(sent(keys).state, VIEW)).toBe(row);
});

test("the first row is chosen when the chosen one is gone", () => {
  expect(selectedOf({ ...TOP_START, selected: "topic gone" }, VIEW)).toBe("broker");
  expect(selectedOf(TOP_START, { rows: [] })).toBeUndefined();
});

test("w goes through the waits and chooses their rows, and a chosen row that waits is explained", () => {
  expect(sent("w").state).toMatchObject({ whyIndex: 1, selected: "vertex p/out" });
  expect(sent("ww").state).toMatchObject({ whyIndex: 0, selected: "topic b" });
  expect(sent(`${DOWN}${DOWN}${DOWN}${DOWN}`).state).toMatchObject({ whyIndex: 1 });
});

test("enter opens the chosen row and asks for it; escape goes back", () => {
  const { state, effects } = sent(`${DOWN}\r`);
  expect(state.mode).toEqual({ name: "detail", row: "topic a", scroll: 0 });
  expect(effects).toEqual([{ kind: "ask" }]);
  expect(sent(DOWN + DOWN + UP, state).state.mode).toMatchObject({ scroll: 1 });
  expect(sent(UP, state).state.mode).toMatchObject({ scroll: 0 });
  expect(sent(ESC, state).state).toMatchObject({ mode: { name: "table" }, selected: "topic a" });
});

test("an open row scrolls no further than its last line, so that one up shows the line above", () => {
  const { state } = sent(`${DOWN}\r`);
  expect(sent(DOWN.repeat(9), state).state.mode).toMatchObject({ scroll: 5 });
  expect(sent(`\u001B[F${UP}`, state).state.mode).toMatchObject({ scroll: 4 });
});

test("s goes through the orders", () => {
  expect(["s", "ss", "sss"].map((keys) => sent(keys).state.sort)).toEqual([
    "heaviest",
    "longest wait",
    "path",
  ]);
});

test("what is typed after a slash is looked for at once; q is a letter there", () => {
  const typing = sent("/qx\u007F").state;
  expect(typing).toMatchObject({ mode: { name: "find" }, find: "q" });
  expect(sent("\r", typing).state).toMatchObject({ mode: { name: "table" }, find: "q" });
  expect(sent(ESC, typing).state).toMatchObject({ mode: { name: "table" }, find: "" });
  expect(sent(`\r${ESC}`, typing).state.find).toBe("");
});

test("l offers the present limit, and enter sets what was typed", () => {
  const typing = sent("l").state;
  expect(typing.mode).toEqual({ name: "limit", text: "broker messages=50/s" });
  const { state, effects } = sent("\u007F\u007F\u007F90/s\r", typing);
  expect(effects).toEqual([{ kind: "set-limit", words: ["broker", "messages=590/s"] }]);
  expect(state.mode).toEqual({ name: "table" });
  expect(sent(`9${ESC}`, typing).effects).toEqual([]);
  expect(sent("\u0015\r", typing).effects).toEqual([]);
});

test("a row whose limit cannot be set says so", () => {
  expect(sent(`${DOWN}l`).state).toMatchObject({
    mode: { name: "table" },
    notice: "no limit can be set for this row",
  });
});

test("q quits from the table, a row and the keys, Ctrl-C from everywhere", () => {
  for (const keys of ["q", "\rq", "?q", "\u0003", "/\u0003", "l\u0003", "?\u0003"])
    expect(sent(keys).effects.at(-1)).toEqual({ kind: "quit" });
  expect(sent("?x").state.mode).toEqual({ name: "table" });
});

test("sequences of keys that mean nothing here do nothing", () => {
  expect(keysOf("\u001B[1;5C\u001BOPä\u0001")).toEqual(["ä"]);
  expect(sent("\u001B[1;5Cx").state).toEqual(TOP_START);
});
