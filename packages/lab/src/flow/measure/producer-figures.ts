import type { MessageId } from "@sluice/pulsar";
import { SECOND_MS } from "@sluice/core/internal";
import { ReasonClock } from "./reason-clock.ts";
import { Quantiles } from "../../simulation/engine/quantiles.ts";

/** What became of the messages of one producer. */
export class ProducerFigures {
  /** From the call of `send` to the receipt. */
  readonly waits: Quantiles = new Quantiles();
  /** Messages with a receipt, by the second in which it came. */
  readonly perSecond: number[];
  /** By the client's own pause or, without one, by what holds the producer at the gateway. */
  readonly throttled: ReasonClock = new ReasonClock();
  sent = 0;
  accepted = 0;
  failed = 0;
  notices = 0;
  receipts = 0;
  /** Messages that were not stored after the one that was sent before them. */
  disordered = 0;
  #lastId: MessageId | undefined;

  constructor(durationS: number) {
    this.perSecond = Array.from({ length: durationS }, () => 0);
  }

  /** To be called in the order in which the messages were sent. */
  onAccepted(id: MessageId, atMs: number, waitMs: number): void {
    if (this.#lastId !== undefined && id.compare(this.#lastId) <= 0) this.disordered++;
    this.#lastId = id;
    this.accepted++;
    this.waits.add(waitMs);
    const second = Math.floor(atMs / SECOND_MS);
    this.perSecond[second] = (this.perSecond[second] ?? 0) + 1;
  }
}
