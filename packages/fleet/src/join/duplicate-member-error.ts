import { SluiceError } from "@sluice/core";

/** Another process has this member's id in the pool, and is alive. */
export class DuplicateMemberError extends SluiceError {
  override readonly name = "DuplicateMemberError";
  readonly code = "DUPLICATE";
}
