import { SluiceError } from "@sluice/core";
import type { ServerErrorName } from "@sluice/pulsar/wire";

/** The broker will not do what it was asked; `error` is what Pulsar calls the reason. */
export class RefusalError extends SluiceError {
  override readonly name = "RefusalError";
  readonly code = "BROKER";
  readonly error: ServerErrorName;

  constructor(error: ServerErrorName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.error = error;
  }
}
