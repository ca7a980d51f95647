import type { Random } from "@sluice/core";
import { MemoryStore } from "@sluice/fleet/sim";
import type { LeaveRequest, SyncReply, SyncRequest } from "@sluice/fleet/sim";
import type { EventLoop } from "../simulation/engine/event-loop.ts";

/** The way between processes and the store. */
export interface Network {
  /** How long a message takes one way; undefined if it is lost. */
  readonly wayMs: (random: Random) => number | undefined;
  /** Whether the messages of a process arrive in the order in which they were sent. */
  readonly isOrdered: boolean;
}

/** One process's connection. What it meets depends on its own draws only. */
export interface Link {
  readonly random: Random;
  /** Nothing passes, either way. */
  isCut: boolean;
  /** Requests arrive and are executed; replies do not come back. */
  isMuted: boolean;
  requestAtMs: number;
  replyAtMs: number;
}

export function newLink(random: Random): Link {
  return { random, isCut: false, isMuted: false, requestAtMs: 0, replyAtMs: 0 };
}

/** The reference store on a clock of its own, behind a network, with everything that may befall it. */
export class SimulatedStore {
  readonly #loop: EventLoop;
  readonly #network: Network;
  readonly #store: MemoryStore;
  readonly #pool: string;
  #clockMs: number;
  isDown = false;

  constructor(loop: EventLoop, network: Network, pool: string) {
    this.#loop = loop;
    this.#network = network;
    this.#pool = pool;
    // By no means the time of any process.
    this.#clockMs = 1_700_000_000_000;
    this.#store = new MemoryStore({ now: () => this.nowMs });
  }

  /** By its own clock. */
  get nowMs(): number {
    return this.#clockMs + this.#loop.now();
  }

  sync(request: SyncRequest, link: Link, onReply: (reply: SyncReply) => void): void {
    this.#travel(link, "requestAtMs", () => {
      if (this.isDown) return;
      const reply = this.#store.syncNow(request);
      if (!link.isMuted) this.#travel(link, "replyAtMs", () => onReply(reply));
    });
  }

  leave(request: LeaveRequest, link: Link): void {
    this.#travel(link, "requestAtMs", () => {
      if (!this.isDown) this.#store.leaveNow(request);
    });
  }

  /** Loses everything. */
  flush(): void {
    this.#store.forget(this.#pool);
  }

  /** Loses one registration, as a failover may. */
  lose(id: string): void {
    this.#store.forget(this.#pool, id);
  }

  /** The store's wall clock is set. */
  stepClock(byMs: number): void {
    this.#clockMs += byMs;
  }

  #travel(link: Link, way: "requestAtMs" | "replyAtMs", arrive: () => void): void {
    const { wayMs, isOrdered } = this.#network;
    const takesMs = wayMs(link.random);
    if (takesMs === undefined || link.isCut) return;
    const soonestMs = this.#loop.now() + takesMs;
    const atMs = isOrdered ? Math.max(soonestMs, link[way]) : soonestMs;
    link[way] = atMs;
    this.#loop.at(atMs, () => {
      if (!link.isCut) arrive();
    });
  }
}
