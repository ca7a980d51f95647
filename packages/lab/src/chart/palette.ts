/** Okabe and Ito's colours, told apart with any kind of colour vision; yellow is too pale here. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"];

const DASHES = ["", "7 4", "2 4"];

export interface Stroke {
  readonly colour: string;
  /** Empty for a solid line; tells series apart that share a colour. */
  readonly dash: string;
}

export function strokeOf(seriesIndex: number): Stroke {
  const turn = Math.floor(seriesIndex / COLOURS.length);
  return {
    colour: COLOURS[seriesIndex % COLOURS.length] ?? "",
    dash: DASHES[turn % DASHES.length] ?? "",
  };
}

export const INK = {
  paper: "#ffffff",
  title: "#1f2328",
  text: "#57606a",
  axis: "#8c959f",
  grid: "#e6e9ed",
} as const;

/** What the reader's system uses for its own labels. */
export const FONT_FAMILY =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export const FONT_SIZE = { title: 17, subtitle: 13, label: 12 } as const;
