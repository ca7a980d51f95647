import type { Series } from "@sluice/lab/browser";

/** How a series is drawn: a colour of the theme, dashes, and whether it is filled. */
export interface Ink {
  readonly color: string;
  readonly dash?: string;
  readonly isFilled: boolean;
}

/** Lines beside the first, in turn: colour and dashes both differ, so that neither is needed alone. */
const OTHERS: readonly Ink[] = [
  { color: "r-topic", dash: "7 2", isFilled: false },
  { color: "r-conc", dash: "2 3", isFilled: false },
  { color: "r-group", dash: "9 3 2 3", isFilled: false },
  { color: "r-conn", dash: "4 2", isFilled: false },
  { color: "r-busy", dash: "1 2", isFilled: false },
  { color: "r-retry", dash: "12 3", isFilled: false },
  { color: "r-store", dash: "5 5", isFilled: false },
];

const LEVEL = /^(?:limit|ceiling|capacity|allowed|live)\b/;
/** Axes of which all lines but limits add up to one whole. */
const WHOLES: ReadonlySet<string> = new Set(["accepted", "share"]);

/** Whether a line is a part of a whole, to be drawn on top of the parts before it. */
export function isPart({ label }: Series, axis: string): boolean {
  return WHOLES.has(axis) && label !== "asked" && !LEVEL.test(label);
}

/** Of a part: filled, and without dashes, because its edge is the sum of several. */
export function partInk(index: number, color: string): Ink {
  const { color: other } = OTHERS[(index - 1) % OTHERS.length] ?? { color };
  return { color: index === 0 ? color : other, isFilled: true };
}

/** By what a line means; the first of a panel has the colour of its side. */
export function inkOf({ label }: Series, index: number, color: string): Ink {
  if (LEVEL.test(label)) return { color: "text", dash: "4 2", isFilled: false };
  if (label === "asked") return { color: "amber-fill", dash: "2 2", isFilled: false };
  if (/^(?:busy|throttled|failed)\b/.test(label)) return { color: "amber-fill", isFilled: true };
  if (label === "waiting") return { color: "amber-fill", isFilled: true };
  if (index === 0) return { color, isFilled: true };
  return OTHERS[(index - 1) % OTHERS.length] as Ink;
}
