import type { Token } from "../../chart/palette.ts";

/** How a producer's band is filled. */
export interface BandLook {
  readonly token: Token;
  readonly alpha: number;
}

/** From the heaviest on; warm only for a producer that waits. */
const CALM: readonly BandLook[] = [
  { token: "water", alpha: 0.55 },
  { token: "text-3", alpha: 0.5 },
  { token: "water", alpha: 0.32 },
  { token: "text-3", alpha: 0.3 },
  { token: "water", alpha: 0.18 },
];
const WAITS: BandLook = { token: "amber-fill", alpha: 0.5 };
const OTHERS: BandLook = { token: "text-3", alpha: 0.2 };

/** `names` from the bottom up, as the stack has them; the heaviest is amber while it waits. */
export function bandLooks(
  names: readonly (string | undefined)[],
  waiting: ReadonlySet<string>,
): readonly BandLook[] {
  const top = names.at(-1);
  const isWarm = top !== undefined && waiting.has(top);
  return names.map((name, index) => {
    const fromTop = names.length - 1 - index;
    if (name === undefined) return OTHERS;
    if (fromTop === 0 && isWarm) return WAITS;
    return CALM[Math.min(CALM.length - 1, isWarm ? fromTop - 1 : fromTop)] ?? OTHERS;
  });
}
