import type { PendingSend } from "./pending-sends.ts";

/** Calls of `flush`, each done when all SENDs up to `upTo` are settled. As many as there are unsettled calls. */
export class Flushes {
  readonly #waiting: { readonly upTo: PendingSend; readonly done: () => void }[] = [];

  add(upTo: PendingSend, done: () => void): void {
    this.#waiting.push({ upTo, done });
  }

  /** SENDs settle in order, so only the oldest flush can wait for this one. */
  onSettled(send: PendingSend): void {
    while (this.#waiting[0]?.upTo === send) this.#waiting.shift()?.done();
  }
}
