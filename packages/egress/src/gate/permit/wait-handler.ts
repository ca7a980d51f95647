import type { Permit } from "@sluice/core";
import type { LeftBecause, Refusal } from "../error/refusal.ts";

/** Receives the end of a call's wait: one of these methods is called, once. None may throw. */
export interface WaitHandler {
  onPermit(permit: Permit, waitedMs: number): void;
  onRefused(refusal: Refusal): void;
  /** The caller gave the call up, or the gate was closed; the caller's promise rejects with `why`. */
  onGivenUp(why: unknown, leftBecause: LeftBecause): void;
}
