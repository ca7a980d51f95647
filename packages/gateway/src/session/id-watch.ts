/** Ids of closed producers or consumers that are remembered: some 100 bytes each. */
const RECENT_MAX = 128;

/** Ids that a connection has used, and how often it used one that does not exist. */
export class IdWatch {
  readonly #unknownMax: number;
  #recent: Set<bigint> | undefined;
  #unknown = 0;

  constructor(unknownMax: number) {
    this.#unknownMax = unknownMax;
  }

  /** Commands that the client sent before it heard of the end may still come. */
  onEnded(id: bigint): void {
    this.#recent ??= new Set();
    this.#recent.delete(id);
    this.#recent.add(id);
    if (this.#recent.size <= RECENT_MAX) return;
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
