/**
 * Where everything stands in the shared memory, in words of 8 bytes. What different threads write
 * is 128 bytes apart: processors fetch their cache lines of 64 in pairs.
 */
const LINE_WORDS = 16;

/** Which fill is the current one; changed only by compare-and-swap. */
export const HEAD_WORD = 0;
/** Tokens that have left the pool and not come back; issued − taken is what the pool has. */
export const TAKEN_WORD: number = LINE_WORDS;
/** Tokens ever moved from a stripe back to the pool: the truth or more. */
export const RETURNED_WORD: number = 2 * LINE_WORDS;
/** Two 32-bit halves: threads attached, and stripes ever used. */
export const SEATS_WORD: number = 2 * LINE_WORDS + 1;

const STRIPES_WORD = 3 * LINE_WORDS;
/** A line that its thread writes on every acquire, and one for its two fills. */
const STRIPE_WORDS = 2 * LINE_WORDS;
const FILL_WORDS = 3;

export function bytesFor(maxThreads: number): number {
  return (STRIPES_WORD + maxThreads * STRIPE_WORDS) * BigInt64Array.BYTES_PER_ELEMENT;
}

/** Its first half is the tokens that a thread holds, its second the thread's id and one, or 0. */
export function stripeWord(stripe: number): number {
  return STRIPES_WORD + stripe * STRIPE_WORDS;
}

/** Tokens that the stripe's threads ever drew from the pool: the truth or less. */
export function drawnWord(stripe: number): number {
  return stripeWord(stripe) + 1;
}

/** The three words of a fill; a stripe has two, 2 × stripe and the next. */
export function fillWord(fill: number): number {
  return stripeWord(fill >> 1) + LINE_WORDS + (fill & 1) * FILL_WORDS;
}
