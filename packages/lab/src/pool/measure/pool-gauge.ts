import { SECOND_MS } from "@sluice/core/internal";
import type { PoolSimulation } from "../pool-simulation.ts";
import { Settling } from "./settling.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import { SlidingSecond } from "../../simulation/engine/sliding-second.ts";

/** Shares that add up to this part of the ceiling are the whole of it; roundings are far smaller. */
const WHOLE = 0.999;

/** The part of a run that is measured; before and after it only the maxima are. */
export interface Measured {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Figures of a run: sums of shares as parts of the ceiling, waits in milliseconds. */
export interface PoolFigures {
  /** The largest sum of shares at any instant. */
  readonly most: number;
  /** The most tokens that were granted in any sliding second, as a part of the ceiling. */
  readonly mostGranted: number;
  /** The least sum while it was measured, and the mean over that time; undefined if it never was. */
  readonly least: number | undefined;
  readonly mean: number | undefined;
  /**
   * The longest time from the start of a process until it had 90 % of its fair share, of those that
   * started while it was measured. Infinity if a process that is there never had it.
   */
  readonly waitMs: number;
  /** From the start of what is measured until the sum was whole and stayed so to the end of it. */
  readonly wholeAfterMs: number;
}

/** Reads the pool whenever anything changes in it. */
export class PoolGauge {
  readonly settling: Settling = new Settling();
  readonly #needsWhole: boolean;
  readonly #measured: Measured | undefined;
  readonly #second = new SlidingSecond();
  /** Processes that have not had their share yet, and since when. */
  readonly #joining = new Map<SimulatedProcess, number>();
  readonly #seen = new WeakSet<SimulatedProcess>();
  #most = 0;
  #mostGranted = 0;
  #least: number | undefined;
  #area = 0;
  #areaMs = 0;
  #waitMs = 0;
  #fromMs: number | undefined;
  #lastBelowMs: number | undefined;
  #last: { readonly atMs: number; readonly ratio: number } | undefined;
  #granted = 0;
  /** The ceilings of this second and the one before: a sliding second spans both. */
  #ceilings = { second: 0, now: 0, before: 0 };

  /** `needsWhole`: a pool is settled only if the shares add up to the ceiling. */
  constructor(needsWhole: boolean, measured?: Measured) {
    this.#needsWhole = needsWhole;
    this.#measured = measured;
  }

  get figures(): PoolFigures {
    const fromMs = this.#fromMs ?? 0;
    return {
      most: this.#most,
      mostGranted: this.#mostGranted,
      least: this.#least,
      mean: this.#areaMs > 0 ? this.#area / this.#areaMs : this.#least,
      waitMs: this.#joining.size > 0 ? Number.POSITIVE_INFINITY : this.#waitMs,
      wholeAfterMs: (this.#lastBelowMs ?? fromMs) - fromMs,
    };
  }

  onGrant(count: number, ceiling: number, atMs: number): void {
    const second = Math.floor(atMs / SECOND_MS);
    const last = this.#ceilings;
    if (second === last.second) last.now = Math.max(last.now, ceiling);
    else this.#ceilings = { second, now: ceiling, before: second - last.second > 1 ? 0 : last.now };
    this.#granted += count;
    const { now, before } = this.#ceilings;
    const ratio = this.#second.add(count, atMs) / Math.max(now, before, 1);
    this.#mostGranted = Math.max(this.#mostGranted, ratio);
  }

  /** Tokens granted since it was last asked. */
  takeGranted(): number {
    const granted = this.#granted;
    this.#granted = 0;
    return granted;
  }

  onChange({ processes, loop }: PoolSimulation): void {
    const nowMs = loop.now();
    let [sum, ceiling, live] = [0, 0, 0];
    for (const process of processes) {
      sum += process.share;
      ceiling = Math.max(ceiling, process.ceiling);
      if (process.isLive) live++;
    }
    const ratio = ceiling > 0 ? sum / ceiling : 0;
    this.#most = Math.max(this.#most, ratio);
    const isWhole = ratio >= WHOLE;
    const isRight = processes.every((process) => !process.isLive || process.isSettledIn(live));
    this.settling.note(nowMs, isRight && (isWhole || !this.#needsWhole || live === 0));
    if (this.#measured === undefined && isWhole) this.#fromMs ??= nowMs;
    else if (this.#measured !== undefined && nowMs >= this.#measured.fromMs)
      this.#fromMs ??= this.#measured.fromMs;
    this.#noteSum(nowMs, live > 0 ? ratio : undefined);
    this.#noteJoiners(nowMs, processes);
  }

  /** `ratio` holds from now on; undefined while no process is live. */
  #noteSum(nowMs: number, ratio: number | undefined): void {
    const untilMs = Math.min(nowMs, this.#measured?.untilMs ?? nowMs);
    if (this.#fromMs === undefined) return;
    const last = this.#last;
    if (last !== undefined) {
      const passedMs = Math.max(0, untilMs - Math.max(last.atMs, this.#fromMs));
      this.#area += passedMs * last.ratio;
      this.#areaMs += passedMs;
      if (last.ratio < WHOLE && passedMs > 0) this.#lastBelowMs = untilMs;
    }
    this.#last = ratio === undefined ? undefined : { atMs: nowMs, ratio };
    if (ratio !== undefined && nowMs <= untilMs)
      this.#least = Math.min(this.#least ?? ratio, ratio);
  }

  #noteJoiners(nowMs: number, processes: readonly SimulatedProcess[]): void {
    for (const process of processes) {
      if (this.#seen.has(process)) continue;
      this.#seen.add(process);
      if (this.#fromMs !== undefined && nowMs > this.#fromMs)
        this.#joining.set(process, process.joinedAtMs);
    }
    for (const [process, sinceMs] of this.#joining) {
      // A process that is refused, is paused or has ended does not wait for a share.
      if (!process.isLive) this.#joining.delete(process);
      else if (process.hasArrived) {
        this.#waitMs = Math.max(this.#waitMs, nowMs - sinceMs);
        this.#joining.delete(process);
      }
    }
  }
}
