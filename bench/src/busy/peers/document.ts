import type { BusyState, BusyThrottle, Clock } from "@sluice/core";
import { SECOND_MS, DOCUMENT_LIMIT_MAX } from "@sluice/core/internal";
import type { BusyRule } from "@sluice/core/internal";
import { Tokens } from "./tokens.ts";

/** A hundredth of a second is the finest step of the model that the peers are compared in. */
const BURST_S = 0.02;

/** A rule of TChannel's document with each second's limit spread evenly over the second. */
export class DocumentThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #rule: BusyRule;
  readonly #tokens = new Tokens();
  #state: BusyState = { limit: undefined, move: "open" };
  #second = 0;
  #sent = 0;
  #busy = 0;

  constructor(clock: Clock, rule: BusyRule) {
    this.#clock = clock;
    this.#rule = rule;
    this.#tokens.set(DOCUMENT_LIMIT_MAX, DOCUMENT_LIMIT_MAX, clock.now());
  }

  state(nowMs: number = this.#clock.now()): BusyState {
    this.#advance(nowMs);
    return this.#state;
  }

  pauseMs(nowMs: number = this.#clock.now()): number {
    this.#advance(nowMs);
    return this.#tokens.pauseMs(nowMs);
  }

  trySend(nowMs: number = this.#clock.now()): boolean {
    this.#advance(nowMs);
    if (!this.#tokens.tryTake(nowMs)) return false;
    this.#sent++;
    return true;
  }

  onAnswer(_sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    this.#advance(nowMs);
    if (isBusy) this.#busy++;
  }

  #advance(nowMs: number): void {
    for (; (this.#second + 1) * SECOND_MS <= nowMs; this.#second++) {
      this.#state = this.#rule(this.#state.limit, { sent: this.#sent, busy: this.#busy });
      this.#sent = 0;
      this.#busy = 0;
      const limit = this.#state.limit ?? DOCUMENT_LIMIT_MAX;
      this.#tokens.set(limit, Math.max(1, limit * BURST_S), (this.#second + 1) * SECOND_MS);
    }
  }
}
