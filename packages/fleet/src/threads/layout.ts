/**
 * The layout of the shared memory, in words of 8 bytes. Words that different threads write are 128
 * bytes apart, since processors fetch cache lines of 64 bytes in pairs (false sharing).
 */
const LINE_WORDS = 16;

/** Names the current fill; changed only by compare-and-swap. */
export const HEAD_WORD = 0;
/** Tokens that have left the pool and not come back: `pool = issued − taken`. */
export const TAKEN_WORD: number = LINE_WORDS;
/** Tokens ever moved from a stripe back to the pool; while tokens move, an upper bound. */
export const RETURNED_WORD: number = 2 * LINE_WORDS;
/** Two 32-bit halves: threads attached, and stripes ever used. */
export const SEATS_WORD: number = 2 * LINE_WORDS + 1;

const STRIPES_WORD = 3 * LINE_WORDS;
/** One line that the thread writes at every call, and one for its two fills. */
const STRIPE_WORDS = 2 * LINE_WORDS;
const FILL_WORDS = 3;

export function bytesFor(maxThreads: number): number {
  return (STRIPES_WORD + maxThreads * STRIPE_WORDS) * BigInt64Array.BYTES_PER_ELEMENT;
}

/** First 32 bits: the tokens that the thread holds. Second: its owner + 1, or 0 if free. */
export function stripeWord(stripe: number): number {
  return STRIPES_WORD + stripe * STRIPE_WORDS;
}

/** Tokens that the stripe ever drew from the pool; while tokens move, a lower bound. */
export function drawnWord(stripe: number): number {
  return stripeWord(stripe) + 1;
}

/** The three words of a fill; a stripe has the fills `2 × stripe` and `2 × stripe + 1`. */
export function fillWord(fill: number): number {
  return stripeWord(fill >> 1) + LINE_WORDS + (fill & 1) * FILL_WORDS;
}
