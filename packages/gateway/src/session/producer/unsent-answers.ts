import type { SessionContext } from "../session-context.ts";

/**
 * Answers of one connection that were given without the broker, to a SEND that is no good or a PRODUCER that
 * was sent again, and that wait for the answers before them. No limit of publishing counts them. The client
 * is not read from `requestsMax` of them on, and is again at half.
 */
export class UnsentAnswers {
  readonly #context: SessionContext;
  #count = 0;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  add(): void {
    this.#count++;
    if (this.#count >= this.#context.facts.limits.requestsMax) this.#context.gate.block("answers");
  }

  remove(): void {
    this.#count--;
    if (this.#count <= this.#context.facts.limits.requestsMax >> 1)
      this.#context.gate.unblock("answers");
  }
}
