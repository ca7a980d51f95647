import { valueAt } from "../model/document.ts";
import type { Figure } from "../model/kind.ts";

/** A number in the stats of a run; null if there is none. */
export function numberAt(stats: unknown, ...path: readonly (string | number)[]): number | null {
  const value = valueAt(stats, path);
  return typeof value === "number" ? value : null;
}

export function sumOf(rows: readonly Readonly<Record<string, unknown>>[], key: string): number {
  return rows.reduce((sum, row) => sum + Number(row[key] ?? 0), 0);
}

/** Values that differ by less are called the same. */
const SAME = 0.005;

/** "B lets through 5 % more" and what follows. */
export function comparedText(
  a: Figure | undefined,
  b: Figure | undefined,
  verb: string,
): [string, string] {
  const [from, to] = [a?.value ?? 0, b?.value ?? 0];
  if (Math.abs(to - from) <= SAME * Math.max(from, to)) return ["A and B come to the same.", ""];
  if (from === 0) return [`B ${verb} something`, ", A nothing."];
  const change = (to - from) / from;
  const part = Math.round(Math.abs(change) * 100);
  const amount =
    Math.abs(change) >= 9.9
      ? `${Math.round(to / from)} times as much`
      : `${part} % ${change > 0 ? "more" : "less"}`;
  return [`B ${verb} ${amount}`, change >= 9.9 ? " as A." : " than A."];
}

/** How B compares with A: a part from -1 on, and what is better. */
export interface Comparison {
  readonly change: number | undefined;
  readonly verdict: "better" | "worse" | "same" | "neither";
  readonly text: string;
}

export function compare(a: Figure, b: Figure): Comparison {
  if (a.value === null && b.value === null) return { change: 0, verdict: "same", text: "same" };
  if (a.value === null || b.value === null)
    return { change: undefined, verdict: "neither", text: "" };
  const [from, to] = [a.value, b.value];
  if (Math.abs(to - from) <= SAME * Math.max(Math.abs(from), Math.abs(to)))
    return { change: 0, verdict: "same", text: "same" };
  const change = from === 0 ? 10 : (to - from) / Math.abs(from);
  const size = Math.round(Math.abs(change) * 100);
  const amount = change > 9.9 ? "more than 10 ×" : `${change > 0 ? "+" : "−"}${size} %`;
  if (b.better === 0) return { change, verdict: "neither", text: amount };
  const verdict = to > from === b.better > 0 ? "better" : "worse";
  return { change, verdict, text: `${amount}, ${verdict}` };
}
