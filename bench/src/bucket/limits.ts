/** So high that no case is ever refused: what is compared is the cost of being admitted. */
export const PLENTY = 1_000_000_000;

/** For peers that count in windows: none ends during the run. */
export const WINDOW_MS = 3_600_000;
