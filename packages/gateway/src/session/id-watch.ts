/** Ids that a connection has used, and how often it used one that means nothing. */
export class IdWatch {
  readonly #unknownMax: number;
  readonly #recentMax: number;
  readonly #recent = new Set<bigint>();
  #unknown = 0;

  constructor({ unknownMax, recentMax }: { unknownMax: number; recentMax: number }) {
    this.#unknownMax = unknownMax;
    this.#recentMax = recentMax;
  }

  /** What its client sent before it heard of the end may still come, and means nothing bad. */
  onEnded(id: bigint): void {
    this.#recent.delete(id);
    this.#recent.add(id);
    if (this.#recent.size <= this.#recentMax) return;
    for (const oldest of this.#recent) {
      this.#recent.delete(oldest);
      break;
    }
  }

  hasEnded(id: bigint): boolean {
    return this.#recent.has(id);
  }

  /** Counts an id that nobody knows. False once there were too many of them. */
  allowUnknown(): boolean {
    this.#unknown++;
    return this.#unknown <= this.#unknownMax;
  }
}
