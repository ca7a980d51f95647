import { asError } from "../../as-error.ts";
import type { Source } from "../../connector/source.ts";
import type { Origin } from "../../flow/origin.ts";
import type { Message } from "../../message.ts";
import { backoffMs } from "../failure/backoff.ts";
import { slept } from "../run-context.ts";
import type { RunContext } from "../run-context.ts";

/**
 * Complete messages that wait for their acknowledgement at most; the source is not read meanwhile. Raised, a
 * source that cannot be reached for acknowledgements makes the pipeline hold more.
 */
const WAITING_MAX = 10_000;

const BACKOFF = { firstMs: 100, maxMs: 10_000 };

/** Acknowledges complete messages, one call at a time: what completes meanwhile is the next batch. */
export class Acknowledger {
  readonly #context: RunContext;
  readonly #vertex: string;
  readonly #source: Source;
  /** Called when room for further messages may be there. */
  readonly #onProgress: () => void;
  #waiting: Message[] = [];
  #sending: Promise<void> | undefined;
  #acknowledged = 0;
  #isClosed = false;
  #isFailing = false;

  constructor(context: RunContext, vertex: string, source: Source, onProgress: () => void) {
    this.#context = context;
    this.#vertex = vertex;
    this.#source = source;
    this.#onProgress = onProgress;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Whether unacknowledged messages have reached the bound at which the source is not read; a source that confirms slowly reaches it too. */
  get isBehind(): boolean {
    return this.#waiting.length >= WAITING_MAX;
  }

  /** Whether the last acknowledgement failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** A message is complete. `flush` acknowledges it. */
  add(origin: Origin): void {
    if (!this.#isClosed) this.#waiting.push(origin.message);
  }

  /** Acknowledges what is complete. */
  flush(): void {
    if (this.#waiting.length === 0 || this.#sending !== undefined || this.#isClosed) return;
    this.#sending = this.#send();
  }

  /** Resolves when nothing waits for its acknowledgement. */
  async idle(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  /** Nothing is acknowledged any more. */
  close(): void {
    this.#isClosed = true;
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const messages = this.#waiting;
      this.#waiting = [];
      await this.#ack(messages);
      this.#onProgress();
    }
    this.#sending = undefined;
  }

  /** Tries until it succeeds; an acknowledgement that is lost only makes the messages come again. */
  async #ack(messages: readonly Message[]): Promise<void> {
    const { timer, random, tell, pipeline, cut } = this.#context;
    for (let tries = 1; ; tries++) {
      try {
        await this.#source.ack(messages);
        this.#isFailing = false;
        this.#acknowledged += messages.length;
        return;
      } catch (thrown) {
        this.#isFailing = true;
        tell({ kind: "ack-failed", pipeline, vertex: this.#vertex, error: asError(thrown) });
      }
      if (!(await slept(timer, backoffMs(tries, BACKOFF, random), cut))) return;
    }
  }
}
