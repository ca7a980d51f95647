/** A token bucket at a rate that may change, as the peers pace with. */
export class Tokens {
  #perSecond = 0;
  #max = 0;
  #tokens = 0;
  #filledAtMs = 0;

  set(perSecond: number, max: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#perSecond = perSecond;
    this.#max = max;
    this.#tokens = Math.min(this.#tokens, max);
  }

  tryTake(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  pauseMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1000) / this.#perSecond;
  }

  #fill(nowMs: number): void {
    const filled = this.#tokens + ((nowMs - this.#filledAtMs) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#max, filled);
    this.#filledAtMs = nowMs;
  }
}
