import type { SessionLimits } from "./limits.ts";

/** What is due at an instant. */
export type KeepAliveAction = "nothing" | "ping" | { readonly closeBecause: string };

/** A peer that is not read cannot be heard; after this many `pingMs` it is closed all the same. */
const PAUSED_PINGS_MAX = 4;

/** Notices peers that are gone, and frames that take too long to arrive. */
export class KeepAlive {
  readonly #limits: SessionLimits;
  #heardAtMs: number;
  #pingAtMs: number;
  #pausedAtMs: number | undefined;
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

  /** All whole frames are taken; the start of another may have arrived. */
  onDrained(isWithinFrame: boolean, nowMs: number): void {
    if (!isWithinFrame) this.#frameBeganAtMs = undefined;
    else this.#frameBeganAtMs ??= nowMs;
  }

  /** The broker stops or starts reading; the time between does not count against the peer. */
  onReadingChanged(isReading: boolean, nowMs: number): void {
    this.#pausedAtMs = isReading ? undefined : nowMs;
    this.#frameBeganAtMs = undefined;
    if (isReading) this.#heardAtMs = nowMs;
  }

  get dueAtMs(): number {
    return Math.min(this.#pingAtMs, this.#goneAtMs, this.#frameEndMs);
  }

  due(nowMs: number): KeepAliveAction {
    const { pingMs, frameMs } = this.#limits;
    if (nowMs >= this.#goneAtMs)
      return {
        closeBecause:
          this.#pausedAtMs === undefined
            ? `nothing was heard for ${2 * pingMs} ms`
            : `it could not be read for ${PAUSED_PINGS_MAX * pingMs} ms`,
      };
    if (nowMs >= this.#frameEndMs)
      return { closeBecause: `a frame took longer than ${frameMs} ms` };
    if (nowMs < this.#pingAtMs) return "nothing";
    this.#pingAtMs = nowMs + pingMs;
    return "ping";
  }

  get #goneAtMs(): number {
    const { pingMs } = this.#limits;
    return this.#pausedAtMs === undefined
      ? this.#heardAtMs + 2 * pingMs
      : this.#pausedAtMs + PAUSED_PINGS_MAX * pingMs;
  }

  get #frameEndMs(): number {
    return this.#frameBeganAtMs === undefined
      ? Infinity
      : this.#frameBeganAtMs + this.#limits.frameMs;
  }
}
