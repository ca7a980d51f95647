/** Messages that a producer sends at once. */
export interface Frame {
  /** Index of its producer in the plan. */
  readonly producer: number;
  readonly atMs: number;
}
