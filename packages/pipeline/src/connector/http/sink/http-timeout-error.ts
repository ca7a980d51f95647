import { SluiceError } from "@sluice/core";

/** A service took longer than a request may. The request may have been executed. */
export class HttpTimeoutError extends SluiceError {
  override readonly name = "HttpTimeoutError";
  readonly code = "DEADLINE";

  constructor(host: string, timeoutMs: number, options?: ErrorOptions) {
    super(
      `${host} did not answer within ${timeoutMs} ms (request.timeoutMs); the request may have been executed`,
      options,
    );
  }
}
