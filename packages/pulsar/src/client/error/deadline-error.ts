import { SluiceError } from "@sluice/core";

/** A timeout passed. The operation may still have been done. */
export class DeadlineError extends SluiceError {
  override readonly name = "DeadlineError";
  readonly code = "DEADLINE";
}
