/** What a chart shows; `renderSvg` decides how it looks. */
export interface Chart extends Panel {
  readonly title: string;
  /** Text under the title, such as the settings in force. */
  readonly subtitle?: string;
  readonly x: Axis;
  /** Further panels over the same x, for series with another unit. Makes all panels lower. */
  readonly below?: readonly Panel[];
  /** Events, drawn as labelled vertical lines through all panels. */
  readonly markers?: readonly Marker[];
}

/** Series that share a unit, and so an axis. */
export interface Panel {
  /** Always includes zero, so that heights can be compared. */
  readonly y: Axis;
  readonly series: readonly Series[];
}

export interface Axis {
  readonly label: string;
  readonly unit?: string;
  /** Where the axis ends. Values above are cut off at the edge, and a note says so. */
  readonly max?: number;
  /** The values are counts, such as members: ticks are whole numbers. Default: false. */
  readonly isWhole?: boolean;
}

export interface Series {
  readonly label: string;
  /**
   * `line`: straight between samples. `step`: a value holds until the next sample. `bar`: an amount
   * from its x on, as wide as the smallest distance between two x of its panel, so that a bar stands
   * under the step of the same x.
   */
  readonly shape: "line" | "step" | "bar";
  /** In any order. Points with the same x keep their order: a line between them is vertical. */
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  /** `undefined` or a value that is not finite is a gap in the line. */
  readonly y: number | undefined;
}

/** An event at `x`, or from `x` to `until`. */
export interface Marker {
  readonly x: number;
  readonly until?: number;
  readonly label: string;
}
