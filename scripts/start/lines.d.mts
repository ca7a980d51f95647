/** A line of `npm start`; its kind says what it repeats. */
export interface StartLine {
  readonly kind: string;
  readonly text: string;
  readonly isChange: boolean;
}

/** The line of an event of `sluice run --json`; undefined for one that only counts events left out of the log. */
export function lineOfEvent(json: string): StartLine | undefined;
