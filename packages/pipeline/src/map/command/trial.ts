/** Shortest trial, ms: longer than an interpreter takes to find that its script is missing. */
const TRIAL_MS = 500;

/**
 * How long a program has to run without messages, ms, after one has ended without an answer: twice the time that the
 * last one lived, at least 500 ms and at most `startMs`. A program that ends within it cannot run, with or without a
 * message. One that survives it, and then ends on a message, was ended by the message.
 */
export function trialMs(livedMs: number, startMs: number): number {
  return Math.max(TRIAL_MS, Math.min(2 * livedMs, startMs));
}
