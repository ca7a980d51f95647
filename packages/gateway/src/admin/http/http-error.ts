import { SluiceError } from "@sluice/core";

/** A request that is answered with a status of 4xx or 503 and this reason. */
export class HttpError extends SluiceError {
  override readonly name = "HttpError";
  readonly code = "BROKER";
  readonly status: number;

  constructor(status: number, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.status = status;
  }
}
