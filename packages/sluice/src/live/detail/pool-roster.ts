import type { Clock } from "@sluice/core";
import type { PoolRoster, PoolStore } from "@sluice/fleet";

/** Where the members of pools meet, and its address for people, without secrets. */
export interface SharedStore {
  readonly store: PoolStore;
  readonly address: string;
}

/** Time between two questions while a page looks, ms: members sync twice a second, and a page needs no more. */
const LOOKED_MS = 1_000;
/** The same while none does, for what a page shows of the past. Lowered, the store is asked more: a question costs as much as a few syncs. */
const UNLOOKED_MS = 5_000;
/** The same for each member of a large pool, ms: its members together ask twice a second, however many they are. */
const UNLOOKED_PER_MEMBER_MS = 500;
/** A pool of at most this many members is asked about at once when its size has changed: all of them ask then. */
const SMALL_POOL = 16;

/** What the store has said of a pool, as of its last answer. */
export interface KnownRoster {
  readonly roster: PoolRoster | undefined;
  /** When it was answered, on the process's clock. */
  readonly atMs: number;
}

/** Asks the store for the roster of one pool: once a second while a page looks, else every few seconds; one question at a time. */
export class RosterWatch {
  readonly #shared: SharedStore;
  readonly #pool: string;
  readonly #clock: Clock;
  #askedAtMs = -Infinity;
  #isAsking = false;
  #isAnswering = true;
  #answerMs: number | undefined;
  #known: KnownRoster | undefined;
  /** Members of the pool, as this member knew them at the last question. */
  #size = 0;

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

  /** Asks if it is time. `size`: the members that this process knows of. Never rejects. */
  look({ isLooked, size }: { readonly isLooked: boolean; readonly size: number }): void {
    const nowMs = this.#clock.now();
    const { store } = this.#shared;
    const isNews = size !== this.#size && size <= SMALL_POOL;
    const everyMs =
      isLooked || isNews ? LOOKED_MS : Math.max(UNLOOKED_MS, size * UNLOOKED_PER_MEMBER_MS);
    if (this.#isAsking || nowMs - this.#askedAtMs < everyMs || store.roster === undefined) return;
    this.#size = size;
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
