import type { Sink } from "../connector/sink.ts";
import type { FailedTry } from "../flow/tries.ts";
import type { Batch } from "../flow/batch.ts";
import type { Message } from "../message.ts";
import { backoffMs } from "./backoff.ts";
import { asError, slept } from "./run-context.ts";
import type { RunContext } from "./run-context.ts";

/** Characters of an error's text that a dead letter carries; brokers bound their headers. */
const ERROR_CHARS_MAX = 500;

const BACKOFF = { firstMs: 100, maxMs: 10_000 };

/** Takes messages that no try could process. */
export class DeadLetters {
  readonly #context: RunContext;
  readonly #sink: Sink | undefined;

  constructor(context: RunContext, sink: Sink | undefined) {
    this.#context = context;
    this.#sink = sink;
  }

  get hasSink(): boolean {
    return this.#sink !== undefined;
  }

  /**
   * Resolves when the dead-letter sink has the messages: its failures are tried again without end, so that no
   * message is lost and the vertex waits. Answers false if the drain's deadline came first.
   */
  async write(batch: Batch, given: readonly FailedTry[], vertex: string): Promise<boolean> {
    let left = given.map(({ index, tries, failure }) =>
      letterOf(batch.messages[index] as Message, vertex, tries, failure.error),
    );
    if (this.#sink === undefined) return true;
    const { timer, random, cut } = this.#context;
    for (let tries = 1; ; tries++) {
      left = await this.#tryWrite(this.#sink, left, vertex);
      if (left.length === 0) return true;
      if (!(await slept(timer, backoffMs(tries, BACKOFF, random), cut))) return false;
    }
  }

  /** Answers the messages that are not written. */
  async #tryWrite(sink: Sink, messages: Message[], vertex: string): Promise<Message[]> {
    const { tell, pipeline, cut } = this.#context;
    let left = messages;
    let why: Error | undefined;
    try {
      const results = (await sink.write(messages, { signal: cut })) ?? [];
      left = messages.filter((_, index) => results[index] !== undefined);
      why = results.find((result) => result !== undefined)?.error;
    } catch (thrown) {
      why = asError(thrown);
    }
    if (why !== undefined) {
      const text = `the dead-letter sink failed, ${left.length} messages wait: ${why.message}`;
      tell({ kind: "connector", pipeline, vertex, event: { level: "error", text } });
    }
    return left;
  }
}

/** The message that could not be processed, with headers that say why. */
function letterOf(message: Message, vertex: string, tries: number, error: Error): Message {
  const text = error.message.replaceAll(/\s+/g, " ").slice(0, ERROR_CHARS_MAX);
  return {
    ...message,
    headers: {
      ...message.headers,
      "sluice-error": text,
      "sluice-vertex": vertex,
      "sluice-attempts": String(tries),
    },
  };
}
