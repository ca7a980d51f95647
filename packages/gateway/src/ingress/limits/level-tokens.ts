/** Where a level's tokens come from: a bucket of its own, or its share of a rate of several gateways. */
export interface LevelTokens {
  readonly capacity: number;
  /** A lower bound of the balance, from a reading of the last milliseconds. */
  readonly leftAtLeast: number;
  /** Whether there is more than this. */
  hasMoreThan(count: number, nowMs: number): boolean;
  /** Takes tokens after `hasMoreThan`, into debt if necessary. */
  charge(count: number): void;
  tokens(nowMs: number): number;
  /** Milliseconds until 1 % of the capacity, and one token, is there beside what is reserved. */
  pauseMs(reserved: number, nowMs: number): number;
  /** Milliseconds until this part of the capacity is there once `held` has gone as well. */
  msUntilLeft(part: number, held: number, nowMs: number): number;
  setRate(rate: number, nowMs: number): void;
}

/** Makes the source of one kind of tokens; undefined: the level has a bucket of its own. */
export type MakeTokens = (kind: "messages" | "bytes", rate: number) => LevelTokens | undefined;
