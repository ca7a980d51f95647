import { Fifo } from "@sluice/core/internal";
import type { ConnectionIngress, Ingress } from "@sluice/gateway/sim";
import type { Frame } from "./frame.ts";

/** A frame, the producer's key on the connection, and what it costs. */
export interface Sent {
  readonly key: number;
  readonly frame: Frame;
  readonly messages: number;
  readonly bytes: number;
}

/** A connection of clients that know no notices: they send whenever their connection is read. */
export class PublishConnection {
  readonly #ingress: ConnectionIngress<Frame>;
  readonly #onPublish: (frame: Frame, nowMs: number) => void;
  /** Frames that the clients keep while the connection is not read. */
  readonly #unsent = new Fifo<Sent>();
  #isReading = true;
  /** When reading stopped; undefined while the connection is read. */
  #pausedAtMs: number | undefined;
  #pausedMs = 0;
  heldBytesMax = 0;

  constructor(
    ingress: Ingress<Frame>,
    address: string,
    onPublish: (frame: Frame, nowMs: number) => void,
  ) {
    this.#onPublish = onPublish;
    this.#ingress = ingress.connect({
      address,
      publish: (frame, nowMs) => this.#stored(frame, nowMs),
      throttle: (_, nowMs) => {
        this.#isReading = false;
        this.#pausedAtMs ??= nowMs;
      },
      unthrottle: () => {
        this.#isReading = this.#ingress.isReading;
      },
      notify: () => {},
      disconnect: () => {},
    });
  }

  open(key: number, topic: string, name: string): void {
    this.#ingress.open(key, { topic, name, producerId: BigInt(key) });
  }

  send(sent: Sent, nowMs: number): void {
    this.#unsent.push(sent);
    this.flush(nowMs);
  }

  /** Hands over what the clients have, as long as the connection is read. To be called after a release too. */
  flush(nowMs: number): void {
    if (this.#isReading && this.#pausedAtMs !== undefined) {
      this.#pausedMs += nowMs - this.#pausedAtMs;
      this.#pausedAtMs = undefined;
    }
    while (this.#isReading) {
      const next = this.#unsent.shift();
      if (next === undefined) return;
      const { key, frame, messages, bytes } = next;
      if (this.#ingress.offer(key, frame, { messages, bytes }, nowMs)) this.#stored(frame, nowMs);
      this.heldBytesMax = Math.max(this.heldBytesMax, this.#ingress.heldBytes);
    }
  }

  /** How long it was not read so far. */
  pausedMs(nowMs: number): number {
    return this.#pausedMs + (this.#pausedAtMs === undefined ? 0 : nowMs - this.#pausedAtMs);
  }

  /** The store answers at once: what it costs is not what is tried here. */
  #stored(frame: Frame, nowMs: number): void {
    this.#onPublish(frame, nowMs);
    this.#ingress.settled(nowMs);
  }
}
