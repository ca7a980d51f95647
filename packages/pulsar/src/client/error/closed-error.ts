import { SluiceError } from "@sluice/core";

/** The client, producer or consumer of the call is closed. */
export class ClosedError extends SluiceError {
  override readonly name = "ClosedError";
  readonly code = "CLOSED";
}
