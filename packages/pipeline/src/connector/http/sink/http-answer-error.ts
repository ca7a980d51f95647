import { SluiceError } from "@sluice/core";

/** Characters of an answer's body in an error: errors are logged. */
const EXCERPT_LENGTH_MAX = 200;
/** Characters that could forge lines of a log. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]+/gu;

/** A service answered a request with a status that is none of success. */
export class HttpAnswerError extends SluiceError {
  override readonly name = "HttpAnswerError";
  readonly code = "CONNECTION";
  readonly status: number;

  constructor(status: number, request: string, excerpt: string) {
    const words = excerpt.slice(0, EXCERPT_LENGTH_MAX).replaceAll(UNPRINTABLE, " ").trim();
    super(`${request} was answered ${status}${words === "" ? "" : `: ${words}`}`);
    this.status = status;
  }
}
