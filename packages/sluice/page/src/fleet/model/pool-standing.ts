import type { LiveMember, LivePoolDetail } from "../../../../src/live/live-message.ts";

/**
 * What a pool is at, in the order in which one hides the next.
 *
 * `no store`: this process alone, or a number of processes that the settings tell. `store lost`: this member runs
 * without a lease. `learning`: the store has lost memory, and no share grows. `joining`: a member waits for its first
 * share. `handing over`: parts are asked back and told to others. `over`: more was told than the ceiling. `agreed`: all
 * have their fair share.
 */
export type PoolStanding =
  | "no store"
  | "store lost"
  | "over"
  | "learning"
  | "joining"
  | "handing over"
  | "agreed";

/** A member has its fair share from this part of it on, as the ledger has it. */
const ARRIVED = 0.9;
/** Shares are rounded when they are sent: by this part a sum may exceed the ceiling. */
const ROUNDING = 1.001;

export function standingOf(detail: LivePoolDetail): PoolStanding {
  const { store, learningMs = 0 } = detail;
  if (isWithoutStore(detail)) return "no store";
  const own = detail.members.find(({ isThis }) => isThis);
  const isUnleased = own?.state === "safe-share" || own?.state === "lease-ended";
  if (!store.isAnswering && isUnleased) return "store lost";
  const live = liveMembers(detail);
  const { ceiling } = detail.share;
  if (ceiling !== undefined && sumOf(detail) > ceiling * ROUNDING) return "over";
  if (learningMs > 0) return "learning";
  if (live.some(({ state }) => state === "joining")) return "joining";
  return live.every(hasFairShare) ? "agreed" : "handing over";
}

/** Members that the store still counts. */
export function liveMembers({ members }: LivePoolDetail): readonly LiveMember[] {
  return members.filter(({ state }) => state !== "left" && state !== "lease-ended");
}

/** This member first, then by id, so that rows keep their place; joiners behind, and those that are gone last. */
export function inOrder(members: readonly LiveMember[]): readonly LiveMember[] {
  return members.toSorted((a, b) => rank(a) - rank(b) || a.id.localeCompare(b.id));
}

function rank({ isThis, state }: LiveMember): number {
  if (isThis) return 0;
  if (state === "left" || state === "lease-ended") return 3;
  return state === "joining" ? 2 : 1;
}

export function hasFairShare({ share, fair, promised, state }: LiveMember): boolean {
  if (state !== "holds") return false;
  const isReleasing = promised !== undefined && promised > share * ROUNDING;
  return !isReleasing && (fair === undefined || share >= ARRIVED * fair);
}

/** What members were told, together. */
export function sumOf(detail: LivePoolDetail): number {
  return detail.sum ?? liveMembers(detail).reduce((sum, { share }) => sum + share, 0);
}

export function isWithoutStore({ replicas, store }: LivePoolDetail): boolean {
  return replicas !== undefined || store.address === "memory";
}
