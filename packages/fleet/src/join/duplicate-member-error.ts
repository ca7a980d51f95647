import { SluiceError } from "@sluice/core";

/**
 * Another process has this member's id in the pool, and is alive: it was seen for one stale age.
 *
 * @example
 * await joinFleet({ ...options, member: "web-1" }).catch((error: unknown) => {
 *   if (error instanceof DuplicateMemberError) return joinFleet(options); // with a random id
 *   throw error;
 * });
 */
export class DuplicateMemberError extends SluiceError {
  override readonly name = "DuplicateMemberError";
  readonly code = "DUPLICATE";
}
