/** Numbers as the page writes them. A value that is not known is a dash, never 0. */

export const NOT_KNOWN = "–";

const THOUSAND = 1_000;
const MILLION = 1_000_000;
const BILLION = 1_000_000_000;
/** Counts from here on are written in thousands. */
const THOUSANDS_FROM = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** `45`, `1,000`, `50.0k`, `1.25M`; one decimal below 10 unless it is whole. */
export function countText(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return NOT_KNOWN;
  const size = Math.abs(value);
  if (size >= BILLION) return `${signed(value, value / BILLION, 2)}G`;
  if (size >= MILLION) return `${signed(value, value / MILLION, size >= 10 * MILLION ? 1 : 2)}M`;
  if (size >= THOUSANDS_FROM) return `${signed(value, value / THOUSAND, 1)}k`;
  if (size >= 9.95 || Math.abs(value - Math.round(value)) < 0.05) return wholeText(value);
  return signed(value, value, 1);
}

/** Every digit, for a field that is edited: `50,000`. */
export function wholeText(value: number): string {
  return (value < -0.5 ? "−" : "") + grouped.format(Math.abs(Math.round(value)));
}

/** Messages or requests a second. */
export function rateText(perSecond: number | undefined): string {
  return perSecond === undefined ? NOT_KNOWN : `${countText(perSecond)}/s`;
}

/** Powers of ten, as in a flow file: `8 kB`, `1.1 MB`. */
export function bytesText(bytes: number | undefined): string {
  if (bytes === undefined) return NOT_KNOWN;
  if (bytes >= BILLION) return `${shortest(bytes / BILLION)} GB`;
  if (bytes >= MILLION) return `${shortest(bytes / MILLION)} MB`;
  return bytes >= THOUSAND ? `${Math.round(bytes / THOUSAND)} kB` : `${Math.round(bytes)} B`;
}

/** `4.8 ms`, `619 ms`, `6.0 s`, `38 s`, `1 min 12 s`, `3 h 12 min`. */
export function durationText(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return NOT_KNOWN;
  if (ms < 0.05) return "0 ms";
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / THOUSAND).toFixed(1)} s`;
  if (ms < MINUTE_MS - 500) return `${Math.round(ms / THOUSAND)} s`;
  const seconds = Math.round(ms / THOUSAND);
  if (ms < HOUR_MS - 500) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

/** 0.72 is `72 %`. */
export function percentText(part: number): string {
  return `${Math.round(part * 100)} %`;
}

/** `6.6 ×`. */
export function timesText(factor: number): string {
  return `${factor < 9.95 ? factor.toFixed(1) : wholeText(factor)} ×`;
}

/** A limit: `1,000/s`, `10 MB/s`, or both. */
export function limitText({
  messages,
  bytes,
}: {
  messages?: number | undefined;
  bytes?: number | undefined;
}): string {
  const parts = [
    ...(messages === undefined ? [] : [rateText(messages)]),
    ...(bytes === undefined ? [] : [`${bytesText(bytes)}/s`]),
  ];
  return parts.length === 0 ? "no limit" : parts.join(" and ");
}

/** `1 producer`, `3 producers`. */
export function countedText(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? "" : "s"}`;
}

function signed(value: number, shown: number, digits: number): string {
  return (value < 0 ? "−" : "") + Math.abs(shown).toFixed(digits);
}

function shortest(value: number): string {
  return value >= 100 || value % 1 === 0 ? String(Math.round(value)) : value.toFixed(1);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
