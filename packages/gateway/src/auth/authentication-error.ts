import { SluiceError } from "@sluice/core";

/** A client could not prove who it is. The message may go to it: it repeats nothing of a token. */
export class AuthenticationError extends SluiceError {
  override readonly name = "AuthenticationError";
  readonly code = "BROKER";
  /** What the wire calls it. */
  readonly serverError = "AuthenticationError";
}
