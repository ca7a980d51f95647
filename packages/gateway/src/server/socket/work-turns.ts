import type { Clock } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";

/** Has work that can be interrupted. */
export interface Worker {
  /** Works until `isOver` or until nothing is left; answers whether something is left. Must not throw. */
  work(isOver: () => boolean): boolean;
}

export interface WorkTurnsOptions {
  /** Milliseconds that one worker may work before others get their turn. */
  readonly sliceMs: number;
  /** Milliseconds that all workers together may work in one turn of the event loop. */
  readonly turnMs: number;
  /** A turn is over: what was written in it can leave, and need not wait for the next one. */
  readonly onTurnEnd?: () => void;
}

/**
 * Shares the event loop between connections. A connection works at once when bytes arrive, for one
 * slice at most. What is left waits behind connections with less work: those that have used up a slice
 * are `heavy` and are served, in turns, after those that have not.
 */
export class WorkTurns {
  readonly #clock: Clock;
  readonly #nextTurn: () => Promise<void>;
  readonly #options: WorkTurnsOptions;
  readonly #light = new Fifo<Worker>();
  readonly #heavy = new Fifo<Worker>();
  readonly #queued = new Set<Worker>();
  #isTurnPlanned = false;
  /** Whether the planned turn follows work that was done when bytes arrived. */
  #hasRun = false;
  #turnEndsAtMs = 0;
  #sliceEndsAtMs = 0;
  readonly #isOver = (): boolean => this.#clock.now() >= this.#sliceEndsAtMs;

  constructor(clock: Clock, nextTurn: () => Promise<void>, options: WorkTurnsOptions) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
    this.#options = options;
  }

  /** Whether the worker waits for its turn. */
  isQueued(worker: Worker): boolean {
    return this.#queued.has(worker);
  }

  /** Lets the worker work now, or in a later turn if this one has lasted long enough. */
  run(worker: Worker): void {
    if (this.#queued.has(worker)) return;
    const nowMs = this.#clock.now();
    if (!this.#isTurnPlanned) {
      this.#turnEndsAtMs = nowMs + this.#options.turnMs;
      this.#hasRun = true;
      this.#planTurn();
    }
    if (nowMs < this.#turnEndsAtMs) this.#work(worker, nowMs);
    else this.add(worker);
  }

  /** Lets the worker work in the next turn of the event loop. */
  add(worker: Worker): void {
    this.#queue(this.#light, worker);
  }

  #queue(queue: Fifo<Worker>, worker: Worker): void {
    if (this.#queued.has(worker)) return;
    this.#queued.add(worker);
    queue.push(worker);
    this.#planTurn();
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    void this.#nextTurn().then(() => this.#turn());
  }

  async #turn(): Promise<void> {
    this.#isTurnPlanned = false;
    let nowMs = this.#clock.now();
    const { turnMs, sliceMs } = this.#options;
    // What was done when bytes arrived counts; one worker at least gets its slice.
    const endsAtMs = this.#hasRun ? this.#turnEndsAtMs : nowMs + turnMs;
    this.#turnEndsAtMs = Math.max(endsAtMs, nowMs + sliceMs);
    this.#hasRun = false;
    // Those that come back in this turn wait for the next one.
    let count = this.#light.length + this.#heavy.length;
    while (count-- > 0 && nowMs < this.#turnEndsAtMs) {
      const worker = this.#light.shift() ?? this.#heavy.shift();
      if (worker === undefined) break;
      this.#queued.delete(worker);
      this.#work(worker, nowMs);
      // What it has started may go on at once: that time counts too.
      await Promise.resolve();
      nowMs = this.#clock.now();
    }
    if (this.#queued.size > 0) this.#planTurn();
    this.#options.onTurnEnd?.();
  }

  #work(worker: Worker, nowMs: number): void {
    this.#sliceEndsAtMs = nowMs + this.#options.sliceMs;
    if (worker.work(this.#isOver)) this.#queue(this.#heavy, worker);
  }
}
