import type { Clock } from "@sluice/core";
import type { PoolRoster, PoolStore } from "@sluice/fleet";

/** Where the members of pools meet, and its address for people, without secrets. */
export interface SharedStore {
  readonly store: PoolStore;
  readonly address: string;
}

/** Time between two questions, ms: members sync twice a second, and a page needs no more. */
const EVERY_MS = 1_000;

/** What the store has said of a pool, as of its last answer. */
export interface KnownRoster {
  readonly roster: PoolRoster | undefined;
  /** When it was answered, on the process's clock. */
  readonly atMs: number;
}

/** Asks the store for the roster of one pool, at most once a second for all pages together, one question at a time. */
export class RosterWatch {
  readonly #shared: SharedStore;
  readonly #pool: string;
  readonly #clock: Clock;
  #askedAtMs = -Infinity;
  #isAsking = false;
  #isAnswering = true;
  #answerMs: number | undefined;
  #known: KnownRoster | undefined;

  constructor(shared: SharedStore, pool: string, clock: Clock) {
    this.#shared = shared;
    this.#pool = pool;
    this.#clock = clock;
  }

  get address(): string {
    return this.#shared.address;
  }

  /** Whether the last question was answered. */
  get isAnswering(): boolean {
    return this.#isAnswering;
  }

  /** How long the last answer took, ms. */
  get answerMs(): number | undefined {
    return this.#answerMs;
  }

  /** The last answer; undefined before the first. */
  get known(): KnownRoster | undefined {
    return this.#known;
  }

  /** Asks if it is time. Never rejects. */
  look(): void {
    const nowMs = this.#clock.now();
    const { store } = this.#shared;
    if (this.#isAsking || nowMs - this.#askedAtMs < EVERY_MS || store.roster === undefined) return;
    this.#askedAtMs = nowMs;
    this.#isAsking = true;
    void this.#ask(nowMs).finally(() => {
      this.#isAsking = false;
    });
  }

  async #ask(askedAtMs: number): Promise<void> {
    try {
      const roster = await this.#shared.store.roster?.(this.#pool);
      const atMs = this.#clock.now();
      this.#answerMs = atMs - askedAtMs;
      this.#isAnswering = true;
      this.#known = { roster, atMs };
    } catch {
      // The page is told that the store does not answer; the members of the pool tell why.
      this.#isAnswering = false;
    }
  }
}
