import { SluiceError } from "@sluice/core";

/** Bytes that cannot be what they claim to be. */
export class ProtocolError extends SluiceError {
  override readonly name = "ProtocolError";
  readonly code = "PROTOCOL";
}
