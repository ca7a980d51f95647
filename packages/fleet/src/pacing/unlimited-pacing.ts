import type { Pacing } from "./pacing.ts";

/** Where nothing is limited: everybody gets what they ask for, whatever they are entitled to. */
export const UNLIMITED: Pacing = {
  take: (ask) => ask,
  leftAt: () => Number.MAX_SAFE_INTEGER,
  spend: () => {},
  takeBack: () => {},
  readyAtMs: (_count, atMs) => atMs,
  countMax: Number.MAX_SAFE_INTEGER,
  glance: () => ({ share: Number.MAX_SAFE_INTEGER, left: Number.MAX_SAFE_INTEGER }),
};
