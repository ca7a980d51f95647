import type { Batch } from "../flow/batch.ts";
import type { Origin } from "../flow/origin.ts";
import type { FailedTry } from "../flow/tries.ts";
import type { Message } from "../message.ts";
import type { Acknowledger } from "./acknowledger.ts";
import type { DeadLetters } from "./dead-letters.ts";
import type { FailureNotice } from "./failure-notice.ts";
import type { VertexMeter } from "./vertex-meter.ts";

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
    const { deadLetters, vertex, notice, meter, acknowledger } = this.#parts;
    if (!(await deadLetters.write(batch, given, vertex))) return false;
    const [first] = given;
    if (first === undefined) return true;
    const { id } = batch.messages[first.index] as Message;
    notice.onFailed(
      id,
      first.failure.error,
      given.length,
      deadLetters.hasSink ? "dead-lettered" : "lost",
    );
    meter.counts.deadLettered += given.length;
    for (const { index } of given) {
      const origin = batch.origins[index] as Origin;
      if (origin.onDone()) acknowledger.add(origin);
    }
    acknowledger.flush();
    return true;
  }
}
