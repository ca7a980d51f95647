import { SluiceError } from "@sluice/core";

/** Something took longer than it may. It may still have been done. */
export class DeadlineError extends SluiceError {
  override readonly name = "DeadlineError";
  readonly code = "DEADLINE";
}
