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

/** "4.8 ms", "619 ms", "6.0 s", "38 s", "1 min 12 s", "3 h 12 min". */
export function durationText(ms: number): string {
  if (ms < 10) return `${Number.isInteger(ms) || ms >= 9.95 ? Math.round(ms) : ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
