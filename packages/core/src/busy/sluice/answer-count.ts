/** Answers at one rate, and how many of them said busy. */
export interface AnswerCount {
  readonly busy: number;
  readonly answers: number;
}

export function busyRatioOf({ busy, answers }: AnswerCount): number {
  return busy / answers;
}

/** The most that chance makes of a count whose mean is `mean`: two standard deviations above it. */
export function byChance(mean: number): number {
  return mean + 2 * Math.sqrt(mean);
}
