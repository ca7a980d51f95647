import { SluiceError } from "@sluice/core";

/** A peer's bytes or commands break Pulsar's protocol. */
export class ProtocolError extends SluiceError {
  override readonly name = "ProtocolError";
  readonly code = "PROTOCOL";
}
