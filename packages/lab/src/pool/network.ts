import type { Random } from "@sluice/core";

/** The way between processes and the store. */
export interface Network {
  /** How long a message takes one way; undefined if it is lost. */
  readonly wayMs: (random: Random) => number | undefined;
  /** Whether the messages of a process arrive in the order in which they were sent. */
  readonly isOrdered: boolean;
}

/** One process's connection to the store. Its delays and losses depend on its own draws only. */
export interface Link {
  readonly random: Random;
  /** No message passes, in either direction. */
  isCut: boolean;
  /** Requests arrive and are executed; replies are lost. */
  isMuted: boolean;
  /** When the last request, and the last reply, arrives: later ones do not overtake it. */
  requestAtMs: number;
  replyAtMs: number;
}

export function newLink(random: Random): Link {
  return { random, isCut: false, isMuted: false, requestAtMs: 0, replyAtMs: 0 };
}
