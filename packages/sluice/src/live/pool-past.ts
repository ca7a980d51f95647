import type { LivePoolDetail, LivePoolPast } from "./live-message.ts";

/** What is kept of a pool's past. */
export const PAST_MS: number = 15 * 60_000;
/** Looks that are kept: 15 minutes with one every two seconds, and some more where states changed. */
const LOOKS_MAX = 900;
/** Members in all looks together, some 2 MB: of a large pool fewer looks are kept. */
const MEMBERS_MAX = 20_000;
/** A state that has not changed is looked at this often, ms; more often would show no more. */
export const LOOK_MS: number = 2_000;

/** Adds the present, unless it shows what the last look has shown just now. Runs in the process and in the page. */
export function withPresent(
  known: readonly LivePoolPast[],
  detail: LivePoolDetail,
): readonly LivePoolPast[] {
  const look = lookOf(detail);
  const last = known.at(-1);
  if (last !== undefined && look.atMs <= last.atMs) return known;
  const isSame = last !== undefined && statesOf(last) === statesOf(look);
  if (isSame && look.atMs - last.atMs < LOOK_MS) return known;
  return boundedPast([...known, look]);
}

/** The looks of the last 15 minutes, as many as are kept. */
export function boundedPast(past: readonly LivePoolPast[]): readonly LivePoolPast[] {
  const oldestMs = (past.at(-1)?.atMs ?? 0) - PAST_MS;
  let members = 0;
  const first = past.findLastIndex((look, index) => {
    members += look.members.length;
    return look.atMs < oldestMs || members > MEMBERS_MAX || past.length - index > LOOKS_MAX;
  });
  return past.slice(first + 1);
}

function lookOf({ atMs, share, members, store, learningMs }: LivePoolDetail): LivePoolPast {
  const { isAnswering } = store;
  return {
    atMs,
    ceiling: share.ceiling,
    max: share.max,
    ...(!isAnswering && { isBlind: true }),
    ...((learningMs ?? 0) > 0 && { isLearning: true }),
    // Without an answer of the store the others are not seen: their lanes end.
    members: members
      .filter(({ isThis }) => isThis || isAnswering)
      .filter(({ goneForMs }) => goneForMs === undefined)
      .map(({ id, isThis, share: told, used, state }) => ({
        id,
        share: told,
        state,
        ...(isThis && { isThis }),
        ...(used !== undefined && { used }),
      })),
  };
}

function statesOf({ members, max, isBlind = false, isLearning = false }: LivePoolPast): string {
  const states = members.map(({ id, state }) => `${id} ${state}`);
  return [...states, max, isBlind, isLearning].join();
}
