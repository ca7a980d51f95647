import type { SessionLimits } from "./limits.ts";

/** What is due at an instant. */
export type LifeSign = "nothing" | "ping" | { readonly closeBecause: string };

/** Notices peers that are gone, and those that send so slowly that they might as well be. */
export class KeepAlive {
  readonly #limits: SessionLimits;
  #heardAtMs: number;
  #pingAtMs: number;
  #frameBeganAtMs: number | undefined;

  constructor(limits: SessionLimits, nowMs: number) {
    this.#limits = limits;
    this.#heardAtMs = nowMs;
    this.#pingAtMs = nowMs + limits.pingMs;
  }

  /** Any command is a sign of life. */
  onFrame(nowMs: number): void {
    this.#heardAtMs = nowMs;
    this.#frameBeganAtMs = undefined;
  }

  /** All whole frames are taken; the start of another may be there. */
  onDrained(isWithinFrame: boolean, nowMs: number): void {
    if (!isWithinFrame) this.#frameBeganAtMs = undefined;
    else this.#frameBeganAtMs ??= nowMs;
  }

  /** What to do now. A peer that we do not read cannot be heard, which is not its fault. */
  due(nowMs: number, isReading: boolean): LifeSign {
    const { pingMs, frameMs } = this.#limits;
    if (!isReading) {
      this.#heardAtMs = nowMs;
      this.#frameBeganAtMs = undefined;
    } else {
      if (nowMs - this.#heardAtMs >= 2 * pingMs)
        return { closeBecause: `nothing was heard for ${2 * pingMs} ms` };
      if (this.#frameBeganAtMs !== undefined && nowMs - this.#frameBeganAtMs >= frameMs)
        return { closeBecause: `a frame took longer than ${frameMs} ms` };
    }
    if (nowMs < this.#pingAtMs) return "nothing";
    this.#pingAtMs = nowMs + pingMs;
    return "ping";
  }
}
