import { SluiceError } from "@sluice/core";

/** A connection failed or was lost. Requests that were in flight may have been done. */
export class ConnectionError extends SluiceError {
  override readonly name = "ConnectionError";
  readonly code = "CONNECTION";
}
