import { cut } from "../../why/cut.ts";

export type Style = "dim" | "warn" | "bad" | "bold" | "chosen";
export type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, string>> = {
  dim: "2",
  warn: "33",
  bad: "31",
  bold: "1",
  chosen: "7",
};

export function painter(isColoured: boolean): Paint {
  return (style, text) => (isColoured ? `\u001B[${CODES[style]}m${text}\u001B[0m` : text);
}

/** One text at the left and one at the right of a line, the left one cut if both do not fit. */
export function spread(left: string, right: string, width: number): string {
  const room = Math.max(0, width - right.length - 1);
  return cut(`${cut(left, room).padEnd(room)} ${right}`, width);
}
