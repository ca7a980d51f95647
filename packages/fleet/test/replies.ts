import type { Told } from "../src/store/pool-store.ts";

/** A store's answer that gives a lone member these parts, with whatever else a test needs. */
export function told(parts: number, more: Partial<Told> = {}): Told {
  return {
    kind: "told",
    told: parts,
    isRenewed: true,
    reason: "kept",
    fair: parts,
    members: 1,
    learningMs: 0,
    isSettled: false,
    rank: undefined,
    storeMs: 1_000_000,
    hasRunId: true,
    saved: undefined,
    limitsVersion: 0,
    limits: undefined,
    ...more,
  };
}
