import { SECOND_MS } from "./last-second.ts";

interface Span {
  readonly share: number;
  readonly fromMs: number;
  untilMs: number;
}

/**
 * The tokens that a member's share has brought in the last second: `∫ share dt`. Shares of all members together never exceed the
 * ceiling, so neither do these sums, also while a share moves from one member to another.
 */
export class ShareSecond {
  readonly #spans: Span[] = [];
  #share = 0;
  #lookedAtMs: number | undefined;

  /**
   * Notes the share of this instant. The time since the last look counts with the smaller of the two shares; a share that
   * fell and came back in between is not seen.
   */
  look(share: number, nowMs: number): number {
    const lookedAtMs = this.#lookedAtMs ?? nowMs;
    this.#add(Math.min(share, this.#share), lookedAtMs, nowMs);
    this.#share = share;
    this.#lookedAtMs = nowMs;
    const oldestMs = nowMs - SECOND_MS;
    while ((this.#spans[0]?.untilMs ?? Infinity) <= oldestMs) this.#spans.shift();
    let sum = 0;
    for (const { share: part, fromMs, untilMs } of this.#spans)
      sum += (part * (untilMs - Math.max(fromMs, oldestMs))) / SECOND_MS;
    return sum;
  }

  #add(share: number, fromMs: number, untilMs: number): void {
    const newest = this.#spans.at(-1);
    if (newest?.share === share) newest.untilMs = untilMs;
    else if (untilMs > fromMs) this.#spans.push({ share, fromMs, untilMs });
  }
}
