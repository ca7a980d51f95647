/**
 * How long a reported level counts, at least; at most twice that. Every live member reports its level
 * every 500 ms by default, so that 2 s hear all of them. If it is raised, joiners may start at a level
 * that the pool has left longer ago.
 */
const WINDOW_MS = 2000;

/** The highest ramp level reported in this window and in the one before; no pass over the members. */
export interface LevelWindow {
  sinceMs: number;
  now: number | undefined;
  before: number | undefined;
}

export function newLevelWindow(): LevelWindow {
  return { sinceMs: 0, now: undefined, before: undefined };
}

/** Adds what one member reports, and answers the highest level of the members that were heard lately. */
export function reportLevel(
  window: LevelWindow,
  level: number | undefined,
  nowMs: number,
): number | undefined {
  const passedMs = nowMs - window.sinceMs;
  if (passedMs >= WINDOW_MS) {
    window.before = passedMs < 2 * WINDOW_MS ? window.now : undefined;
    window.now = undefined;
    window.sinceMs = nowMs;
  }
  if (level !== undefined) window.now = Math.max(level, window.now ?? level);
  if (window.now === undefined) return window.before;
  return Math.max(window.now, window.before ?? window.now);
}
