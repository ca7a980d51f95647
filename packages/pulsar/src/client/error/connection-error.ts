import { SluiceError } from "@sluice/core";

/** A connection could not be made, or was lost. What was under way on it may have been done. */
export class ConnectionError extends SluiceError {
  override readonly name = "ConnectionError";
  readonly code = "CONNECTION";
}
