import { asError } from "../../as-error.ts";
import { SinkClosedError } from "../../connector/connector-error.ts";
import type { Sink, WriteResult } from "../../connector/sink.ts";
import type { FailedTry } from "../../flow/tries.ts";
import type { Batch } from "../../flow/batch.ts";
import type { Message } from "../../message.ts";
import { backoffMs } from "./backoff.ts";
import { deadLetterOf } from "./dead-letter.ts";
import { slept } from "../run-context.ts";
import type { RunContext } from "../run-context.ts";

const BACKOFF = { firstMs: 100, maxMs: 10_000 };

interface Letter {
  readonly tried: FailedTry;
  readonly message: Message;
}

/** Takes messages that no try could process. */
export class DeadLetters {
  readonly #context: RunContext;
  readonly #sink: Sink | undefined;

  constructor(context: RunContext, sink: Sink | undefined) {
    this.#context = context;
    this.#sink = sink;
  }

  /**
   * Resolves when the dead-letter sink has the messages: failures that may pass are tried again without end, so that
   * no message is lost and the vertex waits. Answers the messages that are lost: all of them without a sink, else those
   * that the sink refuses for good, because a message that nothing takes would stop the pipeline. Undefined if the
   * drain's deadline came first.
   */
  async write(
    batch: Batch,
    given: readonly FailedTry[],
    vertex: string,
  ): Promise<readonly FailedTry[] | undefined> {
    const sink = this.#sink;
    if (sink === undefined) return given;
    const { timer, random, cut } = this.#context;
    const lost: FailedTry[] = [];
    let left: readonly Letter[] = given.map((tried) => ({
      tried,
      message: deadLetterOf(batch.messages[tried.index] as Message, vertex, tried, sink),
    }));
    for (let tries = 1; ; tries++) {
      const results = await this.#tryWrite(sink, left);
      lost.push(...left.flatMap(({ tried }, place) => refusalOf(tried, results[place]) ?? []));
      left = left.filter((_, place) => results[place]?.isRetriable === true);
      if (left.length === 0) return lost;
      this.#tell(left.length, results, vertex);
      if (!(await slept(timer, backoffMs(tries, BACKOFF, random), cut))) return undefined;
    }
  }

  async #tryWrite(sink: Sink, letters: readonly Letter[]): Promise<readonly WriteResult[]> {
    try {
      const messages = letters.map(({ message }) => message);
      return (await sink.write(messages, { signal: this.#context.abandoned })) ?? [];
    } catch (thrown) {
      // No later try can succeed: the pipeline ends, and what is not acknowledged comes again.
      if (thrown instanceof SinkClosedError) throw thrown;
      const failure = { error: asError(thrown), isRetriable: true };
      return letters.map(() => failure);
    }
  }

  #tell(waiting: number, results: readonly WriteResult[], vertex: string): void {
    const { tell, pipeline } = this.#context;
    const why = results.find((result) => result?.isRetriable === true)?.error.message ?? "";
    const text = `the dead-letter sink failed, ${waiting} messages wait: ${why}`;
    tell({ kind: "connector", pipeline, vertex, event: { level: "error", text } });
  }
}

/** The message with the reason for which the dead-letter sink refused it; undefined if it did not. */
function refusalOf(tried: FailedTry, result: WriteResult): FailedTry | undefined {
  if (result === undefined || result.isRetriable) return undefined;
  const { failure } = tried;
  const text = `${failure.error.message}; the dead-letter sink refused it: ${result.error.message}`;
  const error = new Error(text, { cause: failure.error });
  return { ...tried, failure: { ...failure, error } };
}
