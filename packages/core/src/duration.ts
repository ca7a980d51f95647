const UNIT_MS = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["μs", 1e-3],
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

const PART = /(\d+(?:\.\d+)?|\.\d+)([a-zµμ]+)/y;

/**
 * Milliseconds of a duration such as "10s", "250ms" or "1h30m", in the notation of Go and Kubernetes.
 * `undefined` for any other text, also for a bare number, which does not say its unit.
 */
export function parseDurationMs(text: string): number | undefined {
  let ms = 0;
  let end = 0;
  while (end < text.length) {
    PART.lastIndex = end;
    const part = PART.exec(text);
    const unitMs = UNIT_MS.get(part?.[2] ?? "");
    if (part === null || unitMs === undefined) return undefined;
    ms += Number(part[1]) * unitMs;
    end = PART.lastIndex;
  }
  if (end === 0 || !Number.isFinite(ms)) return undefined;
  return ms;
}
