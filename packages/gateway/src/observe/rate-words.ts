export { durationText } from "@sluice/core/internal";
import type { RateParts } from "./waiting.ts";

const THOUSANDS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** "1,000/s", from 10,000 on "50.0k/s", "1.25M/s"; one decimal below 10 unless whole. */
export function perSecondText(perSecond: number): string {
  return `${countText(perSecond)}/s`;
}

export function countText(count: number): string {
  if (count >= 1e6) return `${Number((count / 1e6).toFixed(2))}M`;
  if (count >= 1e4) return `${(count / 1e3).toFixed(1)}k`;
  if (count < 10 && !Number.isInteger(count)) return count.toFixed(1);
  return THOUSANDS.format(count);
}

/** In powers of ten, as flow files have it: "8 kB", "1.1 MB". */
export function bytesText(bytes: number): string {
  if (bytes >= 1e9) return `${short(bytes / 1e9)} GB`;
  if (bytes >= 1e6) return `${short(bytes / 1e6)} MB`;
  if (bytes >= 1e3) return `${short(bytes / 1e3)} kB`;
  return `${Math.round(bytes)} B`;
}

/** "50,000/s", "10 MB/s", or both; never rounded, so that an operator sees what was set. */
export function limitText(limit: RateParts | undefined): string {
  const { messages, bytes } = limit ?? {};
  const parts = [
    ...(messages === undefined ? [] : [`${THOUSANDS.format(messages)}/s`]),
    ...(bytes === undefined ? [] : [`${exactBytesText(bytes)}/s`]),
  ];
  return parts.join(" and ") || "no limit";
}

const EXACT_UNITS = [
  ["GB", 1e9],
  ["GiB", 1024 ** 3],
  ["MB", 1e6],
  ["MiB", 1024 ** 2],
  ["kB", 1e3],
  ["KiB", 1024],
] as const;

/** In the largest unit that needs at most one decimal: "1.5 MB", "64 KiB", "1,234,567 B". */
function exactBytesText(bytes: number): string {
  for (const [unit, size] of EXACT_UNITS)
    if (bytes >= size && Number.isInteger((bytes * 10) / size)) return `${bytes / size} ${unit}`;
  return `${THOUSANDS.format(bytes)} B`;
}

/** One decimal below 10, unless it is whole. */
function short(value: number): string {
  return value < 9.95 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value));
}
