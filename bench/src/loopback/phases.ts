import type { ServiceSettings } from "./service.ts";

/** A service, and the clients that call it. */
export interface Phase {
  readonly name: string;
  readonly what: string;
  readonly service: ServiceSettings;
  readonly durationMs: number;
  /** Left out of all figures. */
  readonly warmUpMs: number;
  /** The service is killed at `atMs` and started again `lengthMs` later. */
  readonly outage?: { readonly atMs: number; readonly lengthMs: number };
  readonly fixed: readonly number[];
}

const WORKERS: ServiceSettings = { workers: 8, serviceMs: 20 };
const ROOMY: ServiceSettings = { workers: 64, serviceMs: 20 };
const QUOTA = { perSecond: 200, burst: 20 };

export const PHASES: readonly Phase[] = [
  {
    name: "workers",
    what: "8 workers, 20 ms exponential, one queue",
    service: WORKERS,
    durationMs: 2500,
    warmUpMs: 1000,
    fixed: [1, 2, 4, 8, 16, 32, 64],
  },
  {
    name: "quota",
    what: "200/s, else 429",
    service: { ...ROOMY, quota: QUOTA },
    durationMs: 15_000,
    warmUpMs: 5000,
    fixed: [4, 8, 32],
  },
  {
    name: "retry-after",
    what: "200/s, else 429 with Retry-After: 1",
    service: { ...ROOMY, quota: { ...QUOTA, retryAfterS: 1 } },
    // Long enough for what a word costs, and for how rare the words become.
    durationMs: 30_000,
    warmUpMs: 6000,
    fixed: [4, 8],
  },
  {
    name: "restart",
    what: "8 workers, killed and back after a second",
    service: WORKERS,
    durationMs: 4500,
    warmUpMs: 500,
    outage: { atMs: 1500, lengthMs: 1000 },
    fixed: [4, 8, 32],
  },
];
