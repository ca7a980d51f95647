import { asError } from "../../as-error.ts";
import { SinkClosedError } from "../../connector/connector-error.ts";
import type { Sink, SinkGate, WriteOptions, WriteResult } from "../../connector/sink.ts";
import type { Batch } from "../../flow/batch.ts";
import type { Origin } from "../../flow/origin.ts";
import type { FailedTry } from "../../flow/tries.ts";
import type { Message } from "../../message.ts";
import type { ReadLimit } from "../limit/read-limit.ts";
import { SentMessages } from "../limit/sent-messages.ts";
import type { Acknowledger } from "./acknowledger.ts";
import type { VertexWaiting } from "../pipeline-state.ts";
import type { Retrier } from "../failure/retrier.ts";
import type { RunContext } from "../run-context.ts";
import type { VertexMeter } from "./vertex-meter.ts";
import type { Worker } from "./work-loop.ts";

interface SinkWorkerParts {
  readonly context: RunContext;
  readonly sink: Sink;
  readonly limit: ReadLimit;
  readonly meter: VertexMeter;
  readonly acknowledger: Acknowledger;
  readonly retrier: Retrier;
}

/** Writes batches to the sink; messages that it has complete their source messages. */
export class SinkWorker implements Worker {
  readonly sent: SentMessages = new SentMessages();
  readonly #parts: SinkWorkerParts;
  /** When `why` first found the sink waiting. */
  #waitingSinceMs: number | undefined;

  constructor(parts: SinkWorkerParts) {
    this.#parts = parts;
  }

  /** What the sink itself says; it may wait for permits or for its server. */
  why(): VertexWaiting | undefined {
    const waiting = this.#parts.sink.why?.();
    if (waiting === undefined) {
      this.#waitingSinceMs = undefined;
      return undefined;
    }
    this.#waitingSinceMs ??= this.#parts.context.timer.now();
    return { ...waiting, sinceMs: this.#waitingSinceMs };
  }

  gate(): SinkGate | undefined {
    return this.#parts.sink.gate?.();
  }

  async work(batch: Batch): Promise<void> {
    const { retrier, context } = this.#parts;
    retrier.onFirstTry(context.timer.now());
    const results = await this.#write(batch.messages);
    if (results === undefined) {
      this.#onWritten(batch.origins);
      return;
    }
    const tried = batch.messages.map((_, index) => ({ index, tries: 0 }));
    const failed = this.#sort(batch, results, tried);
    if (failed.length === 0) return;
    await retrier.run(batch, failed, async (due) => {
      const again = await this.#write(due.map(({ index }) => batch.messages[index] as Message));
      return this.#sort(batch, again ?? [], due);
    });
  }

  /** Completes what is written. Answers the messages that failed. */
  #sort(
    batch: Batch,
    results: readonly WriteResult[],
    tried: readonly { readonly index: number; readonly tries: number }[],
  ): readonly FailedTry[] {
    const failed: FailedTry[] = [];
    const written: Origin[] = [];
    for (const [place, { index, tries }] of tried.entries()) {
      const failure = results[place];
      if (failure === undefined) written.push(batch.origins[index] as Origin);
      else failed.push({ index, tries: tries + 1, failure });
    }
    this.#onWritten(written);
    return failed;
  }

  #onWritten(origins: readonly Origin[]): void {
    const { acknowledger, meter } = this.#parts;
    meter.counts.written += origins.length;
    for (const origin of origins) if (origin.onDone()) acknowledger.add(origin);
    acknowledger.flush();
  }

  /** Undefined: all are written. */
  async #write(messages: readonly Message[]): Promise<readonly WriteResult[] | undefined> {
    const { sink, context, limit } = this.#parts;
    const { timer } = context;
    const counted = limit.isLimited
      ? this.sent.begin(messages.length, sink.tellsSent === true, timer.now())
      : undefined;
    const onSent: WriteOptions["onSent"] =
      counted && ((count, again) => counted.onSent(count, timer.now(), again?.isAgain === true));
    let results: readonly WriteResult[] | void;
    try {
      results = await sink.write(messages, { signal: context.abandoned, onSent });
    } catch (thrown) {
      // No later try can succeed, and the messages are not to blame: the pipeline ends.
      if (thrown instanceof SinkClosedError) throw thrown;
      const failure = { error: asError(thrown), isRetriable: true };
      return messages.map(() => failure);
    } finally {
      counted?.end();
    }
    if (results === undefined || results.length === messages.length) return results ?? undefined;
    const text = `a sink answered ${results.length} results for ${messages.length} messages; it must answer one for each, or nothing`;
    const failure = { error: new Error(text), isRetriable: false };
    return messages.map(() => failure);
  }
}
