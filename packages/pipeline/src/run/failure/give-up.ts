import type { Batch } from "../../flow/batch.ts";
import type { Origin } from "../../flow/origin.ts";
import type { FailedTry } from "../../flow/tries.ts";
import type { Message } from "../../message.ts";
import type { Acknowledger } from "../vertex/acknowledger.ts";
import type { DeadLetters } from "./dead-letters.ts";
import type { Fate, FailureNotice } from "./failure-notice.ts";
import type { VertexMeter } from "../vertex/vertex-meter.ts";

interface GiveUpParts {
  readonly vertex: string;
  readonly meter: VertexMeter;
  readonly notice: FailureNotice;
  readonly deadLetters: DeadLetters;
  readonly acknowledger: Acknowledger;
}

/** What a vertex does with messages that are not tried again: dead letters, events, acknowledgements. */
export class GiveUp {
  readonly #parts: GiveUpParts;

  constructor(parts: GiveUpParts) {
    this.#parts = parts;
  }

  /** Answers false if the drain's deadline came before the dead-letter sink had the messages. */
  async run(batch: Batch, given: readonly FailedTry[]): Promise<boolean> {
    const { deadLetters, vertex, meter, acknowledger } = this.#parts;
    const lost = await deadLetters.write(batch, given, vertex);
    if (lost === undefined) return false;
    const places = new Set(lost.map(({ index }) => index));
    const written = given.filter(({ index }) => !places.has(index));
    this.#tell(batch, written, "dead-lettered");
    this.#tell(batch, lost, "lost");
    meter.counts.deadLettered += given.length;
    for (const { index } of given) {
      const origin = batch.origins[index] as Origin;
      if (origin.onDone()) acknowledger.add(origin);
    }
    acknowledger.flush();
    return true;
  }

  #tell(batch: Batch, failed: readonly FailedTry[], fate: Fate): void {
    const [first] = failed;
    if (first === undefined) return;
    const { id } = batch.messages[first.index] as Message;
    this.#parts.notice.onFailed(id, first.failure.error, failed.length, fate);
  }
}
