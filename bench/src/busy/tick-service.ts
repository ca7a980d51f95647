import type { BusyService } from "@sluice/lab/sim";

const TICK_MS = 10;

/** Takes its share of every tick of 10 ms, the first that come, and keeps nothing for the next. */
export class TickService implements BusyService {
  #tick = 0;
  #left = 0;
  #fraction = 0;

  takes(nowMs: number, perSecond: number): boolean {
    const tick = Math.floor(nowMs / TICK_MS);
    if (tick !== this.#tick) {
      const share = (perSecond * TICK_MS) / 1000 + this.#fraction;
      this.#tick = tick;
      this.#left = Math.floor(share);
      this.#fraction = share - this.#left;
    }
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
