/** What a chart shows; how it looks is the writer's business. */
export interface Chart extends Panel {
  readonly title: string;
  /** One line under the title, such as the settings in force. */
  readonly subtitle?: string;
  readonly x: Axis;
  /** Further panels over the same x, for what has another unit. Makes all of them lower. */
  readonly below?: readonly Panel[];
}

/** Series that share a unit, and so an axis. */
export interface Panel {
  /** Always shows zero, so that heights can be compared. */
  readonly y: Axis;
  readonly series: readonly Series[];
}

export interface Axis {
  readonly label: string;
  readonly unit?: string;
  /** Where the axis ends. Values beyond are cut off at the edge, and said to be. */
  readonly max?: number;
}

export interface Series {
  readonly label: string;
  /**
   * `line`: between samples. `step`: a value holds until the next one. `bar`: an amount from its x
   * on, as wide as the closest two x of its panel are apart, so that a bar stands under the step of
   * the same x.
   */
  readonly shape: "line" | "step" | "bar";
  /** In any order. */
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  /** A missing sample is a gap, drawn as one; so is a value that is not finite. */
  readonly y: number | undefined;
}
