import type { StartLine } from "./fold.mjs";

/** The line of an event of `sluice run --json`; undefined for one that only counts events left out of the log. */
export function lineOfEvent(json: string): (StartLine & { readonly isChange: boolean }) | undefined;
