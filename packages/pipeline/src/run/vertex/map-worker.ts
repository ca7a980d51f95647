import type { Grant } from "@sluice/core";
import { asError } from "../../as-error.ts";
import type { VertexSettings } from "../../definition/vertex-settings.ts";
import type { Batch } from "../../flow/batch.ts";
import type { Origin } from "../../flow/origin.ts";
import { toMessage } from "../../flow/outputs.ts";
import type { FailedTry } from "../../flow/tries.ts";
import { checkResults } from "../../map/check-results.ts";
import type { Mapped, Mapper } from "../../map/mapper.ts";
import type { Message, Output } from "../../message.ts";
import type { Acknowledger } from "./acknowledger.ts";
import type { Channel } from "./channel.ts";
import type { VertexWaiting } from "../pipeline-state.ts";
import type { Retrier } from "../failure/retrier.ts";
import type { RunContext } from "../run-context.ts";
import type { VertexMeter } from "./vertex-meter.ts";
import type { Worker } from "./work-loop.ts";

interface MapWorkerParts {
  readonly context: RunContext;
  readonly mapper: Mapper;
  readonly output: Channel;
  /** The name of the vertex behind `output`. */
  readonly next: string;
  readonly meter: VertexMeter;
  readonly settings: () => VertexSettings;
  readonly acknowledger: Acknowledger;
  readonly retrier: Retrier;
}

/** What is known of each message of a batch: its outputs, or undefined while it has none or was given up. */
type Outputs = (readonly Output[] | undefined)[];

/** Maps batches, and puts the outputs into the buffer of the next vertex. */
export class MapWorker implements Worker {
  readonly #parts: MapWorkerParts;
  /** Deliveries that wait for room, and since when at least one does. */
  #waiting = 0;
  #waitingSinceMs = 0;

  constructor(parts: MapWorkerParts) {
    this.#parts = parts;
  }

  why(): VertexWaiting | undefined {
    const { mapper, next } = this.#parts;
    const down = mapper.why?.();
    if (down !== undefined) return { ...down, reason: undefined, isDown: true };
    if (this.#waiting === 0) return undefined;
    const detail = `for room in the buffer of ${next}`;
    return { reason: undefined, detail, sinceMs: this.#waitingSinceMs };
  }

  end(): void {
    this.#parts.output.end();
  }

  work(batch: Batch, grant: Grant | undefined): Promise<void> | undefined {
    const { retrier, context } = this.#parts;
    retrier.onFirstTry(context.timer.now());
    const mapped = this.#map(batch.messages);
    if (mapped instanceof Promise) return this.#workLater(batch, mapped, grant);
    return this.#settle(batch, mapped, grant);
  }

  async #workLater(
    batch: Batch,
    mapping: Promise<readonly Mapped[]>,
    grant: Grant | undefined,
  ): Promise<void> {
    await this.#settle(batch, await mapping, grant);
  }

  #settle(
    batch: Batch,
    mapped: readonly Mapped[],
    grant: Grant | undefined,
  ): Promise<void> | undefined {
    for (const each of mapped) if (!Array.isArray(each)) return this.#retry(batch, mapped, grant);
    return this.#deliver(batch, mapped as readonly (readonly Output[])[], grant);
  }

  /** With a concurrency of 1 all outputs of a batch wait for its retries, so that their order holds. */
  async #retry(batch: Batch, mapped: readonly Mapped[], grant: Grant | undefined): Promise<void> {
    const { retrier, settings } = this.#parts;
    const outputs: Outputs = [];
    const isOrdered = settings().concurrency === 1;
    const first = mapped.map((_, index) => ({ index, tries: 0 }));
    const failed = sortResults(mapped, first, outputs);
    if (!isOrdered) await this.#deliverSome(batch, outputs, grant);
    const isDone = await retrier.run(batch, failed, async (due) => {
      const again = await this.#map(due.map(({ index }) => batch.messages[index] as Message));
      const failedAgain = sortResults(again, due, outputs);
      if (!isOrdered) await this.#deliverSome(batch, outputs, grant);
      return failedAgain;
    });
    if (isDone) await this.#deliverSome(batch, outputs, grant);
  }

  /** Delivers the outputs that are there, and forgets them. */
  async #deliverSome(batch: Batch, outputs: Outputs, grant: Grant | undefined): Promise<void> {
    const places = [...outputs.keys()].filter((index) => outputs[index] !== undefined);
    const some = places.map((index) => outputs[index] as readonly Output[]);
    for (const index of places) outputs[index] = undefined;
    await this.#deliver(
      {
        messages: places.map((index) => batch.messages[index] as Message),
        origins: places.map((index) => batch.origins[index] as Origin),
      },
      some,
      grant,
    );
  }

  #deliver(
    { messages, origins }: Batch,
    outputs: readonly (readonly Output[])[],
    grant: Grant | undefined,
  ): Promise<void> | undefined {
    const { acknowledger, meter, output } = this.#parts;
    const out: Message[] = [];
    const from: Origin[] = [];
    let dropped = 0;
    for (let place = 0; place < outputs.length; place++) {
      const made = outputs[place] as readonly Output[];
      const message = messages[place] as Message;
      const origin = origins[place] as Origin;
      if (made.length === 1) out.push(toMessage(message, made[0] as Output));
      else {
        if (made.length === 0) dropped++;
        if (origin.onMapped(made.length)) acknowledger.add(origin);
        for (let index = 0; index < made.length; index++)
          out.push(toMessage(message, made[index] as Output, index));
      }
      for (let index = 0; index < made.length; index++) from.push(origin);
    }
    if (dropped > 0) {
      meter.counts.dropped += dropped;
      grant?.deposit({ dropped });
      acknowledger.flush();
    }
    meter.counts.written += out.length;
    const batch = { messages: out, origins: from };
    const put = output.put(batch);
    return put === out.length ? undefined : this.#putRest(batch, put);
  }

  async #putRest(batch: Batch, from: number): Promise<void> {
    const { output, context } = this.#parts;
    let put = from;
    if (this.#waiting++ === 0) this.#waitingSinceMs = context.timer.now();
    while (put < batch.messages.length && !context.cut.aborted) {
      await output.freed.wait();
      put = output.put(batch, put);
    }
    this.#waiting--;
  }

  #map(messages: readonly Message[]): readonly Mapped[] | Promise<readonly Mapped[]> {
    const { mapper, context } = this.#parts;
    const onThrown = (thrown: unknown): readonly Mapped[] => {
      const failure = { error: asError(thrown), isRetriable: true };
      return messages.map(() => failure);
    };
    try {
      const mapped = mapper.map(messages, { signal: context.cut });
      if (!(mapped instanceof Promise)) return checkResults(messages, mapped);
      return mapped.then((results) => checkResults(messages, results)).catch(onThrown);
    } catch (thrown) {
      return onThrown(thrown);
    }
  }
}

/** Puts the outputs of each message into their places. Answers the messages that failed. */
function sortResults(
  mapped: readonly Mapped[],
  tried: readonly { readonly index: number; readonly tries: number }[],
  outputs: Outputs,
): readonly FailedTry[] {
  const failed: FailedTry[] = [];
  for (const [place, { index, tries }] of tried.entries()) {
    const result = mapped[place] as Mapped;
    if (isOutputs(result)) outputs[index] = result;
    else failed.push({ index, tries: tries + 1, failure: result });
  }
  return failed;
}

function isOutputs(mapped: Mapped): mapped is readonly Output[] {
  return Array.isArray(mapped);
}
