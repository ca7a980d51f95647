import type { Clock } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";

/** Has work that can be interrupted. */
export interface Worker {
  /** Whether its work takes a small part of a slice. Asked when the worker is queued. */
  readonly isBrief: boolean;
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
 * Brief workers that go first while another one waits, in a row. Raised, many clients with small commands delay a
 * client with a large batch for longer; at 0, a small SEND waits for a slice of each client before it.
 */
const BRIEF_IN_A_ROW = 8;

/**
 * Shares the event loop between connections. A connection works at once when bytes arrive, for one
 * slice at most. What is left waits behind connections with less work: those that have used up a slice
 * are `heavy` and are served, in turns, after those that have not. Brief workers go before both: else a
 * SEND of 100 bytes waits for 300 clients that have sent 64 KiB each, 0.5 ms for one.
 */
export class WorkTurns {
  readonly #clock: Clock;
  readonly #nextTurn: () => Promise<void>;
  readonly #options: WorkTurnsOptions;
  readonly #brief = new Fifo<Worker>();
  readonly #light = new Fifo<Worker>();
  readonly #heavy = new Fifo<Worker>();
  readonly #queued = new Set<Worker>();
  #briefInARow = 0;
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
    this.#queue(worker.isBrief ? this.#brief : this.#light, worker);
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
    let count = this.#queued.size;
    while (count-- > 0 && nowMs < this.#turnEndsAtMs) {
      const worker = this.#nextWorker();
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

  #nextWorker(): Worker | undefined {
    const brief = this.#briefInARow++ < BRIEF_IN_A_ROW ? this.#brief.shift() : undefined;
    if (brief !== undefined) return brief;
    this.#briefInARow = 0;
    return this.#light.shift() ?? this.#heavy.shift() ?? this.#brief.shift();
  }

  #work(worker: Worker, nowMs: number): void {
    this.#sliceEndsAtMs = nowMs + this.#options.sliceMs;
    if (worker.work(this.#isOver)) this.#queue(this.#heavy, worker);
  }
}
