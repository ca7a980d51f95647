import { SluiceError } from "@sluice/core";

export interface ConnectorErrorOptions extends ErrorOptions {
  /** Default: `true`. */
  readonly canHeal?: boolean;
}

/** A connector could not reach its server or file, or was refused. The message names the way out. */
export class ConnectorError extends SluiceError {
  override readonly name = "ConnectorError";
  readonly code = "CONNECTION";
  /**
   * Whether the same call may succeed later with the same settings. True for a server that cannot be reached. False
   * for a wrong password, an unknown topic or a client library that is not installed: a person has to change something.
   */
  readonly canHeal: boolean;

  constructor(message: string, { canHeal = true, ...options }: ConnectorErrorOptions = {}) {
    super(message, options);
    this.canHeal = canHeal;
  }
}

/** The reader of a sink has gone for good, as of a pipe that was closed. The pipeline has to stop. */
export class SinkClosedError extends SluiceError {
  override readonly name = "SinkClosedError";
  readonly code = "CLOSED";
}
