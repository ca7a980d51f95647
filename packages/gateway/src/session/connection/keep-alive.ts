import type { SessionLimits } from "../limits.ts";

/** What is due at an instant. */
export type KeepAliveAction = "nothing" | "ping" | { readonly closeBecause: string };

/** A peer that is not read cannot be heard; after this many `pingMs` it is closed all the same. */
const PAUSED_PINGS_MAX = 4;

/**
 * While a peer is not read its end is noticed only by writing: the first PING after it brings a reset, the
 * second one fails. So many PINGs are sent in `pingMs` then, which is 20 s at most by default.
 */
const PINGS_WHILE_PAUSED = 3;

/** Milliseconds in which a contested peer must give a sign of life; Pulsar's value. */
const PROBE_MS = 5_000;

/** Notices peers that are gone, and frames that take too long to arrive. */
export class KeepAlive {
  readonly #limits: SessionLimits;
  #heardAtMs: number;
  #pingAtMs: number;
  #pausedAtMs: number | undefined;
  #frameBeganAtMs: number | undefined;
  #probeEndsAtMs = Infinity;

  constructor(limits: SessionLimits, nowMs: number) {
    this.#limits = limits;
    this.#heardAtMs = nowMs;
    this.#pingAtMs = nowMs + limits.pingMs;
  }

  /** Any command is a sign of life. */
  onFrame(nowMs: number): void {
    this.#heardAtMs = nowMs;
    this.#frameBeganAtMs = undefined;
    this.#probeEndsAtMs = Infinity;
  }

  /**
   * Another client wants what this peer holds alone. Answers whether to send a PING; without an answer
   * the peer is taken for gone. A peer that is not read could not be heard, so it is not asked.
   */
  probe(nowMs: number): boolean {
    if (this.#pausedAtMs !== undefined || this.#probeEndsAtMs !== Infinity) return false;
    this.#probeEndsAtMs = nowMs + PROBE_MS;
    return true;
  }

  /** All whole frames are taken; the start of another may have arrived. */
  onDrained(isWithinFrame: boolean, nowMs: number): void {
    if (!isWithinFrame) this.#frameBeganAtMs = undefined;
    else this.#frameBeganAtMs ??= nowMs;
  }

  /** The broker stops or starts reading; the time between does not count against the peer. */
  onReadingChanged(isReading: boolean, nowMs: number): void {
    this.#pausedAtMs = isReading ? undefined : nowMs;
    this.#probeEndsAtMs = Infinity;
    this.#frameBeganAtMs = undefined;
    if (isReading) this.#heardAtMs = nowMs;
    this.#pingAtMs = Math.min(this.#pingAtMs, nowMs + this.#pingEveryMs);
  }

  get dueAtMs(): number {
    return Math.min(this.#pingAtMs, this.#goneAtMs, this.#frameEndMs, this.#probeEndsAtMs);
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
    if (nowMs >= this.#probeEndsAtMs)
      return {
        closeBecause: `nothing was heard for ${PROBE_MS} ms, and another client wants its place`,
      };
    if (nowMs >= this.#frameEndMs)
      return { closeBecause: `a frame took longer than ${frameMs} ms` };
    if (nowMs < this.#pingAtMs) return "nothing";
    this.#pingAtMs = nowMs + this.#pingEveryMs;
    return "ping";
  }

  get #pingEveryMs(): number {
    const { pingMs } = this.#limits;
    return this.#pausedAtMs === undefined ? pingMs : pingMs / PINGS_WHILE_PAUSED;
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
