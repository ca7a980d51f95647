import { ConfigError } from "@sluice/core";
import { shown } from "../../check/arguments.ts";

const SEQUENCE_ID_MAX = 2n ** 63n - 1n;

/** Refuses a sequence id that does not fit into a signed 64-bit number. */
export function requireSequenceId(name: string, value: bigint): void {
  if (typeof value === "bigint" && value >= 0n && value <= SEQUENCE_ID_MAX) return;
  throw new ConfigError(`${name} is ${shown(value)}; use a bigint from 0n to 2n ** 63n - 1n`);
}
