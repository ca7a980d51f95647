import { SluiceError } from "@sluice/core";
import { serverErrorName } from "../../wire/constants.ts";
import type { ServerErrorName } from "../../wire/constants.ts";

/** What a broker's words are cut to: they end up in logs. */
const WORDS_LENGTH_MAX = 200;

/** These could forge lines of a log. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]+/gu;

/** A broker refused what it was asked for, or what it was sent. */
export class BrokerError extends SluiceError {
  override readonly name = "BrokerError";
  readonly code = "BROKER";
  readonly serverError: ServerErrorName;
  /** What the broker said besides. */
  readonly words: string;

  constructor(serverError: ServerErrorName, words: string, options?: ErrorOptions) {
    super(`${serverError}: ${words}`, options);
    this.serverError = serverError;
    this.words = words;
  }
}

/** The error in an answer, which may leave out both its number and its words. */
export function brokerErrorOf(error: number | undefined, message: string | undefined): BrokerError {
  const words = printable(message ?? "") || "the broker gave no reason";
  return new BrokerError(serverErrorName(error ?? 0), words);
}

/** What a broker said, fit for a log. */
export function printable(words: string): string {
  return words.slice(0, WORDS_LENGTH_MAX).replaceAll(UNPRINTABLE, " ").trim();
}
