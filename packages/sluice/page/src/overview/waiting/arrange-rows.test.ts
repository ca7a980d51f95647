import { expect, test } from "vitest";
import type { LiveWait } from "../../../../src/live/live-message.ts";
import { arrangeRows } from "./arrange-rows.ts";
import type { Arranged } from "./arrange-rows.ts";

const waits = (keys: string): readonly LiveWait[] =>
  keys.split("").map((key) => ({
    kind: "failed",
    key,
    why: { pipeline: key, error: "", since: "", nextInMs: 1, starts: 1 },
  }));
const NONE: ReadonlySet<string> = new Set();
const shown = ({ rows, more }: Arranged): string =>
  `${rows.map(({ wait, isOver }) => (isOver ? `(${wait.key})` : wait.key)).join("")}${more > 0 ? `+${more}` : ""}`;

test("rows are shown in the order that they come", () => {
  const first = arrangeRows([], waits("ab"), { isHeld: false, dirty: NONE });
  expect(shown(arrangeRows(first.rows, waits("cb"), { isHeld: false, dirty: NONE }))).toBe("cb");
});

test("rows keep their place while the list is held, and new ones wait behind a count", () => {
  const first = arrangeRows([], waits("abc"), { isHeld: false, dirty: NONE });
  const held = arrangeRows(first.rows, waits("dcea"), { isHeld: true, dirty: NONE });
  expect(shown(held)).toBe("a(b)c+2");
  expect(shown(arrangeRows(held.rows, waits("dcea"), { isHeld: false, dirty: NONE }))).toBe("dcea");
});

test("a row with a value that is not applied stays when its wait is over", () => {
  const first = arrangeRows([], waits("ab"), { isHeld: false, dirty: NONE });
  expect(shown(arrangeRows(first.rows, waits("a"), { isHeld: false, dirty: new Set(["b"]) }))).toBe(
    "a(b)",
  );
});

test("an empty list that is held shows the first waits at once", () => {
  expect(shown(arrangeRows([], waits("ab"), { isHeld: true, dirty: NONE }))).toBe("ab");
});
