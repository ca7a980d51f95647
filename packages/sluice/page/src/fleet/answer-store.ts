import { effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { poolDetail } from "../live/live-store.ts";

/** Answers that the small chart shows: 45 s at two a second. */
const ANSWERS_MAX = 90;

const known = signal<readonly (number | undefined)[]>([]);
let pool: string | undefined;

/** How long the latest answers of the watched pool's store took, ms; undefined where none came. */
export const answers: ReadonlySignal<readonly (number | undefined)[]> = known;

effect(() => {
  const detail = poolDetail.value;
  if (detail === undefined) return;
  const before = detail.pool === pool ? known.peek() : [];
  pool = detail.pool;
  const { isAnswering, answerMs } = detail.store;
  known.value = [...before, isAnswering ? answerMs : undefined].slice(-ANSWERS_MAX);
});
