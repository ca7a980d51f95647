import { moveLevel, STEP } from "./level.ts";
import type { Entry, Move } from "./mode.ts";

/** One step up for every epoch that has a call, however little was used; a gap is no setback. */
export function relaxed({ level, bounds }: Entry): Move {
  return { level: moveLevel(level, STEP, bounds), step: "up" };
}
