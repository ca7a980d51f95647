const UNIT_BYTES = new Map([
  ["B", 1],
  ["KB", 1e3],
  ["kB", 1e3],
  ["KiB", 1024],
  ["MB", 1e6],
  ["MiB", 1024 ** 2],
  ["GB", 1e9],
  ["GiB", 1024 ** 3],
  ["TB", 1e12],
  ["TiB", 1024 ** 4],
]);

/**
 * Bytes of a size such as "64MiB" (2^20 each) or "10MB" (10^6 each); `undefined` for any other text,
 * also for a bare number, which does not say its unit, and for a part of a byte.
 */
export function parseBytes(text: string): number | undefined {
  const [, amount = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,6})?)([KMGT]i?B|kB|B)$/.exec(text) ?? [];
  const bytes = Number(amount) * (UNIT_BYTES.get(unit) ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
