import type { SinkGate } from "../../connector/sink.ts";
import type { Grant } from "@sluice/core";
import { BatchTime } from "../limit/batch-time.ts";
import { BatchTokens } from "../limit/batch-tokens.ts";
import type { Batch } from "../../flow/batch.ts";
import type { VertexSettings } from "../../definition/vertex-settings.ts";
import type { Channel } from "./channel.ts";
import type { VertexWaiting, VertexWork } from "../pipeline-state.ts";
import type { ReadLimit } from "../limit/read-limit.ts";
import type { SentMessages } from "../limit/sent-messages.ts";
import { slept } from "../run-context.ts";
import type { RunContext } from "../run-context.ts";
import type { VertexLoop } from "./vertex.ts";
import type { VertexMeter } from "./vertex-meter.ts";
import { Wakeup } from "./wakeup.ts";

/** How often tokens are taken for later batches while all workers are busy, ms. A limiter keeps those of 40 ms. */
const SAVE_MS = 20;

/** What a map or a sink does with a batch. */
export interface Worker {
  /** Undefined: the batch is done already, without a promise. */
  work(batch: Batch, grant: Grant | undefined): Promise<void> | undefined;
  /** Why it waits, if it does. */
  why(): VertexWaiting | undefined;
  /** Of a sink: what it has sent. */
  readonly sent?: SentMessages;
  /** The gate of a sink, if it has one. */
  gate?(): SinkGate | undefined;
  /** No batch comes any more. */
  end?(): void;
}

interface WorkLoopParts {
  readonly context: RunContext;
  readonly input: Channel;
  readonly limit: ReadLimit;
  readonly meter: VertexMeter;
  readonly settings: () => VertexSettings;
  readonly worker: Worker;
}

/**
 * Reads batches from the buffer before a vertex, at most `concurrency` at once and as its rate limit allows,
 * and has them processed. With a concurrency of 1 a batch is done before the next one is read.
 */
export class WorkLoop implements VertexLoop {
  readonly #parts: WorkLoopParts;
  /** Batches that were read and are not done, with the time of their read, ms; the oldest comes first. */
  readonly #inFlight = new Map<Batch, number>();
  readonly #freed = new Wakeup();
  readonly #time = new BatchTime();
  readonly #tokens: BatchTokens;
  /** Batches that are processed now. */
  #working = 0;
  #failure: { readonly thrown: unknown } | undefined;

  constructor(parts: WorkLoopParts) {
    this.#parts = parts;
    this.#tokens = new BatchTokens(parts.limit, parts.context.timer, this.#time, parts.worker.sent);
  }

  /** Batches that were read and are not done, those that the drain's deadline cut off included. */
  get inFlight(): Iterable<Batch> {
    return this.#inFlight.keys();
  }

  /** Resolves when no batch is processed. */
  async idle(): Promise<void> {
    while (this.#working > 0) await this.#freed.wait();
  }

  wake(): void {
    this.#freed.ring();
    this.#parts.input.wakeAll();
  }

  queue(): number {
    return this.#parts.input.size;
  }

  get queueMax(): number {
    return this.#parts.input.capacity;
  }

  work(): VertexWork | undefined {
    const [oldest] = this.#inFlight;
    if (oldest === undefined) return undefined;
    const [{ messages }, sinceMs] = oldest;
    const { failure } = this.#parts.meter;
    return { sinceMs, messages: messages.length, ...(failure === undefined ? {} : { failure }) };
  }

  why(): VertexWaiting | undefined {
    return this.#parts.worker.why();
  }

  gate(): SinkGate | undefined {
    return this.#parts.worker.gate?.();
  }

  /** Until the input has ended and everything is done, or the drain's deadline. */
  async run(): Promise<void> {
    const { input, settings, context, worker } = this.#parts;
    const { cut } = context;
    while (!cut.aborted) {
      if (this.#failure !== undefined) throw this.#failure.thrown;
      if (this.#working >= settings().concurrency) await this.#whileBusy();
      else if (input.size > 0) await this.#read();
      else if (!input.isEnded) {
        this.#tokens.giveBack();
        await input.filled.wait();
      } else if (this.#working > 0) await this.#freed.wait();
      else {
        worker.end?.();
        return;
      }
    }
  }

  /** Until a worker is free. A limited vertex takes the tokens of its next batch meanwhile. */
  async #whileBusy(): Promise<void> {
    const { limit, context } = this.#parts;
    const freed = this.#freed.wait();
    if (!limit.isLimited || !this.#savesMore()) return freed;
    const isFreed = new AbortController();
    void freed.then(() => isFreed.abort());
    do await slept(context.timer, SAVE_MS, isFreed.signal);
    while (!isFreed.signal.aborted && this.#savesMore());
    return freed;
  }

  /** Takes tokens for the next batch. Answers whether more may be wanted: more messages may come before a worker is free. */
  #savesMore(): boolean {
    const { input, settings, limit } = this.#parts;
    const { readBatchSize } = settings();
    // The limiter itself keeps the tokens of a full batch.
    if ((limit.limiter?.countMax ?? Infinity) >= readBatchSize) return false;
    const countMax = Math.min(readBatchSize, input.size);
    const isShort = countMax > 0 && this.#tokens.save(countMax);
    return isShort || countMax < readBatchSize;
  }

  async #read(): Promise<void> {
    const { input, limit, settings, context } = this.#parts;
    const { timer, cut } = context;
    for (;;) {
      const { readBatchSize, concurrency } = settings();
      const countMax = Math.min(readBatchSize, input.size);
      if (countMax === 0 || this.#working >= concurrency) return;
      if (!limit.isLimited) {
        this.#start(input.take(countMax), undefined, timer.now());
        continue;
      }
      const grant =
        this.#tokens.tryNext(countMax) ?? (await this.#tokens.next(countMax, concurrency, cut));
      if (grant === undefined) return;
      this.#start(input.take(grant.count), grant, timer.now());
    }
  }

  #start(batch: Batch, grant: Grant | undefined, nowMs: number): void {
    const { meter, worker, context } = this.#parts;
    const { length } = batch.messages;
    meter.onRead(length, nowMs);
    const working = worker.work(batch, grant);
    if (working === undefined) return;
    meter.inFlight += length;
    this.#working++;
    this.#inFlight.set(batch, nowMs);
    const end = (): void => {
      this.#time.add(length, context.timer.now() - nowMs);
      meter.inFlight -= length;
      this.#working--;
      // What is not done then goes back to the source.
      if (!context.cut.aborted && this.#failure === undefined) this.#inFlight.delete(batch);
      this.#freed.ring();
    };
    working.then(end, (thrown: unknown) => {
      this.#failure ??= { thrown };
      end();
      // The loop may wait for messages that do not come.
      this.wake();
    });
  }
}
