import type { Pacing } from "./pacing.ts";

/** Grants every call what it asks for, whatever the entitlement: for a limiter without a `rateLimit`. */
export const UNLIMITED: Pacing = {
  take: (ask) => ask,
  leftAt: () => Number.MAX_SAFE_INTEGER,
  spend: () => {},
  takeBack: () => {},
  readyAtMs: (_count, atMs) => atMs,
  countMax: Number.MAX_SAFE_INTEGER,
  glance: () => ({ share: Number.MAX_SAFE_INTEGER, left: Number.MAX_SAFE_INTEGER }),
};
