import { spreadOf } from "./spread.ts";
import type { Spread } from "./spread.ts";

/** Median (min..max) over the rounds; the median alone if there was but one. */
export function spreadText({ median, min, max }: Spread, text: (value: number) => string): string {
  return min === max ? text(median) : `${text(median)} (${text(min)}..${text(max)})`;
}

export function roundsText(rounds: readonly number[], text: (value: number) => string): string {
  return spreadText(spreadOf(rounds), text);
}

/** Three digits, as far as they tell something. */
export function short(value: number): string {
  if (Math.abs(value) < 0.005) return "0";
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toPrecision(value < 1 ? 2 : 3);
}

export function perSecond(value: number): string {
  return `${(value / 1e6).toFixed(value < 1e7 ? 2 : 1)} M`;
}
