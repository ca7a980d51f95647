import type { ByteBudget } from "../../../memory/byte-budget.ts";

/**
 * After this time without memory connections that keep much are closed, as large frames that take as long are. Raised,
 * clients that keep three quarters of the memory in use can delay the SENDs of others for longer.
 */
const LONG_MS = 5_000;

/** The wait of one connection for memory. */
export class MemoryWait {
  readonly #memory: ByteBudget;
  readonly #onFree: () => void;
  #stop: (() => void) | undefined;
  /** Nothing is read until memory is free, whatever has arrived. */
  isHeldBack = false;
  /** When `isLong` is to be asked. */
  dueAtMs: number = Infinity;

  constructor(memory: ByteBudget, onFree: () => void) {
    this.#memory = memory;
    this.#onFree = onFree;
  }

  /** The connection waits, or still waits. */
  begin(nowMs: number): void {
    if (this.dueAtMs === Infinity) this.dueAtMs = nowMs + LONG_MS;
    this.#stop ??= this.#memory.whenFree(() => {
      this.#stop = undefined;
      this.isHeldBack = false;
      this.#onFree();
    });
  }

  /** Whether the wait has lasted for long; true once in that time. */
  isLong(nowMs: number): boolean {
    if (nowMs < this.dueAtMs) return false;
    this.dueAtMs = nowMs + LONG_MS;
    return true;
  }

  end(): void {
    this.dueAtMs = Infinity;
    this.#stop?.();
    this.#stop = undefined;
  }
}
