/** A rate with as many digits as a person reads: one decimal below 10. Keeps samples short. */
export function rounded(perSecond: number): number {
  return perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond);
}

/** The same of a value that may not be known. */
export function roundedIfKnown(value: number | undefined): number | undefined {
  return value === undefined ? undefined : rounded(value);
}
