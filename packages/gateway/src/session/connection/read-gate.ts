import type { Reason } from "@sluice/core";

/** What keeps the frames of a client from being read. */
export type Obstacle =
  /** Credentials are being checked. */
  | "authentication"
  /** What the client publishes is limited: the ingress says why. */
  | Reason
  /** As many requests as `requestsMax` are not answered. */
  | "requests"
  /** As many answers as `requestsMax` wait for those before them, of SENDs that are no good. */
  | "answers"
  /** The client does not read the answers to its requests. */
  | "outbound"
  /** The client has sent `commandsPerSecond` commands in this second. */
  | "commands"
  /** The broker is about to close. */
  | "closing";

/** Hears that reading has stopped, or goes on. */
export interface ReadingListener {
  add(effect: { readonly kind: "readingChanged" }): void;
}

/**
 * Frames are read only while no obstacle holds. The gate must be asked before every frame, because
 * one read of the socket may bring many.
 */
export class ReadGate<Name extends string = Obstacle> {
  readonly #outbox: ReadingListener;
  #obstacles: readonly Name[] = [];

  constructor(outbox: ReadingListener) {
    this.#outbox = outbox;
  }

  get isOpen(): boolean {
    return this.#obstacles.length === 0;
  }

  /** Oldest first. */
  get obstacles(): readonly Name[] {
    return this.#obstacles;
  }

  has(obstacle: Name): boolean {
    return this.#obstacles.includes(obstacle);
  }

  block(obstacle: Name): void {
    if (this.has(obstacle)) return;
    this.#obstacles = [...this.#obstacles, obstacle];
    if (this.#obstacles.length === 1) this.#outbox.add({ kind: "readingChanged" });
  }

  unblock(obstacle: Name): void {
    if (!this.has(obstacle)) return;
    this.#obstacles = this.#obstacles.filter((other) => other !== obstacle);
    if (this.isOpen) this.#outbox.add({ kind: "readingChanged" });
  }
}
