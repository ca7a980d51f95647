import type { Permit } from "@sluice/core";
import type { LeftBecause, Refusal } from "../error/refusal.ts";

/** Is told how the wait of a call ends: one of these, once. None may throw. */
export interface WaitHandler {
  onPermit(permit: Permit, waitedMs: number): void;
  onRefused(refusal: Refusal): void;
  /** The caller gave the call up, or the gate was closed; `why` is what the caller is told. */
  onGivenUp(why: unknown, leftBecause: LeftBecause): void;
}
