import type { Timer } from "@sluice/core";

interface TimeLimit {
  readonly timer: Timer;
  readonly timeoutMs: number;
}

/**
 * Waits for all results, at most `timeoutMs` for those that are not there; each of these becomes what
 * `onTimeout` makes. One sleep serves the whole batch.
 */
export async function ended<T>(
  results: readonly Promise<T>[],
  { timer, timeoutMs }: TimeLimit,
  onTimeout: (error: Error) => T,
): Promise<readonly T[]> {
  const all = new AbortController();
  const late = timer.sleep(timeoutMs, all.signal).then(
    () => true,
    () => false,
  );
  const answers = new Map<number, T>();
  const waiting = results.map(async (result, index) => {
    answers.set(index, await result);
  });
  const isLate = await Promise.race([late, Promise.all(waiting).then(() => false)]);
  all.abort();
  if (!isLate) return results.map((_, index) => answers.get(index) as T);
  const error = new Error(`the map took longer than ${timeoutMs} ms (timeoutMs)`);
  return results.map((_, index) =>
    answers.has(index) ? (answers.get(index) as T) : onTimeout(error),
  );
}
