import { moveLevel, STEP } from "./level.ts";
import type { Entry, Move } from "./mode.ts";

/** One step up for every epoch that passes, with or without calls. */
export function scheduled({ level, bounds, epochsPassed }: Entry): Move {
  return { level: moveLevel(level, STEP * epochsPassed, bounds), step: "up" };
}
