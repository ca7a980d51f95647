import type { Outbox } from "./effect.ts";

/** What keeps the frames of a client from being read. */
export type Obstacle =
  /** Credentials are being checked. */
  | "authentication"
  /** As many SENDs as `pendingSendsMax` have no receipt. */
  | "connection-pending"
  /** As many requests as `requestsMax` are not answered. */
  | "requests"
  /** The client does not read the answers to its requests. */
  | "outbound"
  /** The client has sent `commandsPerSecond` commands in this second. */
  | "commands"
  /** The broker is about to close. */
  | "closing";

/**
 * Frames are read only while no obstacle holds. The gate must be asked before every frame, because
 * one read of the socket may bring many.
 */
export class ReadGate {
  readonly #outbox: Outbox;
  #obstacles: readonly Obstacle[] = NONE;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  get isOpen(): boolean {
    return this.#obstacles.length === 0;
  }

  /** Oldest first. */
  get obstacles(): readonly Obstacle[] {
    return this.#obstacles;
  }

  has(obstacle: Obstacle): boolean {
    return this.#obstacles.includes(obstacle);
  }

  block(obstacle: Obstacle): void {
    if (this.has(obstacle)) return;
    this.#obstacles = [...this.#obstacles, obstacle];
    if (this.#obstacles.length === 1) this.#outbox.add({ kind: "readingChanged" });
  }

  unblock(obstacle: Obstacle): void {
    if (!this.has(obstacle)) return;
    this.#obstacles = this.#obstacles.filter((other) => other !== obstacle);
    if (this.isOpen) this.#outbox.add({ kind: "readingChanged" });
  }
}

const NONE: readonly Obstacle[] = [];
