import { exponentOf } from "./scale.ts";

const UNITS = [
  { size: 1e18, suffix: "E" },
  { size: 1e15, suffix: "P" },
  { size: 1e12, suffix: "T" },
  { size: 1e9, suffix: "G" },
  { size: 1e6, suffix: "M" },
  { size: 1e3, suffix: "k" },
] as const;

/** From here on thousands are written as k: 9,000 but 10k. */
const SUFFIX_FROM = 10_000;

/** The labels of an axis: one unit for all of them, and as many decimals as their step needs. */
export function formatTicks(ticks: readonly number[]): string[] {
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
  // The difference of two decimal fractions has rounding errors in its last digits.
  const exponent = exponentOf(Number(step.toPrecision(3)));
  const sizeMax = ticks.reduce((most, tick) => Math.max(most, Math.abs(tick)), 0);
  return ticks.map((tick) => formatInUnit(tick, sizeMax, exponent));
}

/** One number within a text, to three digits or to the whole number below 10,000. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  // Powers of ten below 1e-300 cannot be divided by; axes clamp such values too.
  if (size < 1e-300) return "0";
  const formatted = formatInUnit(value, size, exponentOf(size) - 2);
  return formatted.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");
}

function formatInUnit(value: number, sizeMax: number, stepExponent: number): string {
  if (value === 0) return "0";
  const unit = unitFor(sizeMax, stepExponent);
  const decimals = Math.max(0, exponentOf(unit.size) - stepExponent);
  const [whole = "", fraction] = Math.abs(value / unit.size)
    .toFixed(decimals)
    .split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const digits = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return `${value < 0 ? "−" : ""}${digits}${unit.suffix}`;
}

interface Unit {
  readonly size: number;
  readonly suffix: string;
}

function unitFor(sizeMax: number, stepExponent: number): Unit {
  const exponent = exponentOf(sizeMax);
  if (exponent < -3 || exponent > 20) {
    return { size: Number(`1e${exponent}`), suffix: `e${exponent}` };
  }
  if (sizeMax < SUFFIX_FROM) return { size: 1, suffix: "" };
  // Three decimals would be harder to read than a longer number in a smaller unit.
  const isReadable = (unit: Unit): boolean =>
    unit.size <= sizeMax && exponentOf(unit.size) - stepExponent <= 2;
  return UNITS.find(isReadable) ?? { size: 1, suffix: "" };
}
