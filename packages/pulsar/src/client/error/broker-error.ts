import { SluiceError } from "@sluice/core";
import { serverErrorName } from "../../wire/constants.ts";
import type { ServerErrorName } from "../../wire/constants.ts";
import { printable } from "./printable.ts";

/** The broker refused a request or a message. */
export class BrokerError extends SluiceError {
  override readonly name = "BrokerError";
  readonly code = "BROKER";
  /** Pulsar's name of the error. */
  readonly serverError: ServerErrorName;
  /** The broker's own text. */
  readonly words: string;

  constructor(serverError: ServerErrorName, words: string, options?: ErrorOptions) {
    super(`${serverError}: ${words}`, options);
    this.serverError = serverError;
    this.words = words;
  }
}

/** The error of an answer, which may leave out both number and text. */
export function brokerErrorOf(error: number | undefined, message: string | undefined): BrokerError {
  const words = printable(message ?? "") || "the broker gave no reason";
  return new BrokerError(serverErrorName(error ?? 0), words);
}
