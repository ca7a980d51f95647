import type { Grant } from "@sluice/core";
import type { Batch } from "../../flow/batch.ts";
import type { VertexSettings } from "../../definition/vertex-settings.ts";
import type { Channel } from "./channel.ts";
import type { VertexWaiting } from "../pipeline-state.ts";
import type { ReadLimit } from "../limit/read-limit.ts";
import type { RunContext } from "../run-context.ts";
import type { VertexLoop } from "./vertex.ts";
import type { VertexMeter } from "./vertex-meter.ts";
import { Wakeup } from "./wakeup.ts";

/** What a map or a sink does with a batch. */
export interface Worker {
  /** Undefined: the batch is done already, without a promise. */
  work(batch: Batch, grant: Grant | undefined): Promise<void> | undefined;
  /** Why it waits, if it does. */
  why(): VertexWaiting | undefined;
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
  readonly #inFlight = new Set<Batch>();
  readonly #freed = new Wakeup();
  /** Batches that are processed now. */
  #working = 0;
  #failure: { readonly thrown: unknown } | undefined;

  constructor(parts: WorkLoopParts) {
    this.#parts = parts;
  }

  /** Batches that were read and are not done, those that the drain's deadline cut off included. */
  get inFlight(): ReadonlySet<Batch> {
    return this.#inFlight;
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

  why(): VertexWaiting | undefined {
    return this.#parts.worker.why();
  }

  /** Until the input has ended and everything is done, or the drain's deadline. */
  async run(): Promise<void> {
    const { input, settings, context, worker } = this.#parts;
    const { cut } = context;
    while (!cut.aborted) {
      if (this.#failure !== undefined) throw this.#failure.thrown;
      if (this.#working >= settings().concurrency) await this.#freed.wait();
      else if (input.size > 0) await this.#read();
      else if (!input.isEnded) await input.filled.wait();
      else if (this.#working > 0) await this.#freed.wait();
      else {
        worker.end?.();
        return;
      }
    }
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
      const grant = limit.tryAcquire(countMax) ?? (await limit.acquire(countMax, cut));
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
    this.#inFlight.add(batch);
    const end = (): void => {
      meter.inFlight -= length;
      this.#working--;
      if (!context.cut.aborted) this.#inFlight.delete(batch);
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
