import { SluiceError } from "@sluice/core";

/** A call to something that its owner has closed. */
export class ClosedError extends SluiceError {
  override readonly name = "ClosedError";
  readonly code = "CLOSED";
}
