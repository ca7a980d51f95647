import { ConfigError } from "@sluice/core";

const SEQUENCE_ID_MAX = 2n ** 63n - 1n;

/** Refuses what no broker could count on from. */
export function requireSequenceId(name: string, value: bigint): void {
  if (typeof value === "bigint" && value >= 0n && value <= SEQUENCE_ID_MAX) return;
  throw new ConfigError(`${name} is ${value}; it must be a bigint from 0n on, below 2^63`);
}
