import { systemTimer } from "@sluice/core/system";
import type { LimitedSite } from "./limited-site.ts";

const SAMPLE_MS = 20;

/** What a site went through while it was watched. */
export interface Watched {
  readonly heldBytesMax: number;
  /** From the first to the last sample in which SENDs waited for a limit. */
  readonly heldMs: number;
  /** Milliseconds that connections were not read because of a limit, by its reason. */
  readonly pausedMs: Readonly<Record<string, number>>;
}

/** Samples a site every 20 ms until it is stopped. */
export class SiteWatch {
  readonly #site: LimitedSite;
  readonly #interval: NodeJS.Timeout;
  #pausedMs: Readonly<Record<string, number>> = {};
  #heldBytesMax = 0;
  #heldFromMs: number | undefined;
  #heldUntilMs = 0;

  constructor(site: LimitedSite) {
    this.#site = site;
    this.#interval = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  stop(): Watched {
    clearInterval(this.#interval);
    return {
      heldBytesMax: this.#heldBytesMax,
      heldMs: this.#heldFromMs === undefined ? 0 : this.#heldUntilMs - this.#heldFromMs,
      pausedMs: this.#pausedMs,
    };
  }

  #sample(): void {
    const { heldBytes, pausedMs, connections } = this.#site.stats();
    const nowMs = systemTimer.now();
    // A connection that ends takes its pauses along.
    if (connections > 0) this.#pausedMs = { ...this.#pausedMs, ...pausedMs };
    if (heldBytes > 0) {
      this.#heldFromMs ??= nowMs;
      this.#heldUntilMs = nowMs;
    }
    this.#heldBytesMax = Math.max(this.#heldBytesMax, heldBytes);
  }
}
