/** What the document's store answers: the agreed pool size, or the largest size that was reported. */
export interface Verdict {
  readonly kind: "AGREE" | "DISAGREE";
  readonly poolSize: number;
}

interface Lists {
  /** The time of the last heartbeat, by processor. */
  readonly heartbeats: Map<string, number>;
  /** The pool size that was reported last, by processor. */
  readonly poolSizes: Map<string, number>;
}

/** The store of Numaflow's document "Distributed Throttling", section "On the Store", literally. */
export class DocumentStore {
  readonly #staleMs: number;
  #lists: Lists = { heartbeats: new Map(), poolSizes: new Map() };

  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  /**
   * A processor checks in at `nowMs` of its own wall clock. A new one reports no size: its initial
   * size is the number of processors that are registered.
   */
  checkIn(id: string, poolSize: number | undefined, nowMs: number): Verdict {
    const { heartbeats, poolSizes } = this.#lists;
    heartbeats.set(id, nowMs);
    poolSizes.set(id, poolSize ?? heartbeats.size);
    for (const [other, atMs] of heartbeats) {
      if (atMs >= nowMs - this.#staleMs) continue;
      heartbeats.delete(other);
      poolSizes.delete(other);
    }
    const largest = Math.max(...poolSizes.values());
    const isAgreed = Math.min(...poolSizes.values()) === largest && largest === heartbeats.size;
    return { kind: isAgreed ? "AGREE" : "DISAGREE", poolSize: largest };
  }

  remove(id: string): void {
    this.#lists.heartbeats.delete(id);
    this.#lists.poolSizes.delete(id);
  }

  clear(): void {
    this.#lists = { heartbeats: new Map(), poolSizes: new Map() };
  }

  snapshot(): () => void {
    const saved = structuredClone(this.#lists);
    return () => (this.#lists = structuredClone(saved));
  }
}
