import { expect, test } from "vitest";
import { terminalSize } from "./terminal-size.ts";

test("an output is printed for 100 columns if it does not know its size", () => {
  const unknown = { columns: 100, rows: 60 };
  expect(terminalSize({})).toEqual(unknown);
  expect(terminalSize({ isTTY: true, columns: 0, rows: 0 })).toEqual(unknown);
  expect(terminalSize({ isTTY: true, columns: 72, rows: 24 })).toEqual({ columns: 72, rows: 24 });
});
