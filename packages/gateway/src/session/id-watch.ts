/** Ids that a connection has used, and how often it used one that does not exist. */
export class IdWatch {
  readonly #unknownMax: number;
  readonly #recentMax: number;
  #recent: Set<bigint> | undefined;
  #unknown = 0;

  /**
   * `recentMax`: closed ids that are remembered, some 100 bytes each. A broker that leaves closes all
   * producers of a connection at once, so it is as many as may be open.
   */
  constructor(unknownMax: number, recentMax: number) {
    this.#unknownMax = unknownMax;
    this.#recentMax = recentMax;
  }

  /** Commands that the client sent before it heard of the end may still come. */
  onEnded(id: bigint): void {
    this.#recent ??= new Set();
    this.#recent.delete(id);
    this.#recent.add(id);
    if (this.#recent.size <= this.#recentMax) return;
    for (const oldest of this.#recent) {
      this.#recent.delete(oldest);
      break;
    }
  }

  hasEnded(id: bigint): boolean {
    return this.#recent?.has(id) ?? false;
  }

  /** Counts an id that does not exist. False once there were more than the maximum. */
  allowUnknown(): boolean {
    this.#unknown++;
    return this.#unknown <= this.#unknownMax;
  }
}
