import type { LivePoolPast } from "../../../../src/live/live-message.ts";

/** A look that is older than this says nothing of an instant, ms. */
const OLD_MS = 12_000;

/** What all members of a pool used, a second, as of the last look before an instant; undefined unless all have said. */
export function usedByAll(past: readonly LivePoolPast[], atMs: number): number | undefined {
  const look = past.findLast((one) => one.atMs <= atMs);
  if (look === undefined || atMs - look.atMs > OLD_MS || look.isBlind === true) return undefined;
  let sum = 0;
  for (const { share, used, state } of look.members) {
    if (state === "left" || share === 0) continue;
    if (used === undefined) return undefined;
    sum += share * used;
  }
  return sum;
}

/** The most that was told in any look, as a part of the ceiling of then; undefined before the first. */
export function mostTold(past: readonly LivePoolPast[]): number | undefined {
  const parts = past.flatMap(({ ceiling = 0, members, isBlind }) =>
    ceiling > 0 && isBlind !== true
      ? members.reduce((sum, { share }) => sum + share, 0) / ceiling
      : [],
  );
  return parts.length === 0 ? undefined : Math.max(...parts);
}
